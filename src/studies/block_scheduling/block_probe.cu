#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "solvers/memory/cuda_owners.hpp"
#include "solvers/memory/launch.cuh"
#include "src/studies/block_scheduling/block_probe.hpp"

namespace tessera {
namespace {

constexpr int kMaxRegisters = 255;
constexpr int kMinRegisters = 24;
constexpr int kRegisterStep = 8;
/// Kernels of 24, 32, ..., 248 and 255 registers.
constexpr int kKernels = (248 - kMinRegisters) / kRegisterStep + 2;

constexpr int registers_of(int number) {
  return std::min(kMinRegisters + number * kRegisterStep, kMaxRegisters);
}

/// A block that nobody ends gives up.
constexpr std::uint64_t kGiveUpNanoseconds = 2'000'000'000;
constexpr unsigned kPauseNanoseconds = 50'000;
/// A kernel whose blocks have not started by then waits for others.
constexpr std::chrono::microseconds kPatience(3000);
constexpr std::chrono::milliseconds kPatienceToEnd(200);

struct BlockSignals {
  int* places;          ///< where each block writes its multiprocessor
  const int* released;  ///< not 0: end
  float* sink;          ///< never written
};

__device__ std::uint64_t nanoseconds_now() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__device__ int multiprocessor() {
  int number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

// As many values as registers stay alive across the loop, so that the compiler needs them all; what
// has no room is in local memory.
template <int registers>
__global__ void __maxnreg__(registers) hold_multiprocessor(BlockSignals signals) {
  float values[registers];
#pragma unroll
  for (int i = 0; i < registers; ++i) values[i] = static_cast<float>(threadIdx.x + i);
  const std::uint64_t start = nanoseconds_now();
  if (threadIdx.x == 0) {
    *const_cast<volatile int*>(&signals.places[blockIdx.x]) = multiprocessor();
    __threadfence_system();
  }
  bool ends = false;
  do {
#pragma unroll
    for (int i = 0; i < registers; ++i) {
      values[i] = values[i] * values[(i + 1) % registers] + 1.0F;
    }
    __nanosleep(kPauseNanoseconds);
    ends = threadIdx.x == 0 && (*const_cast<volatile const int*>(signals.released) != 0 ||
                                nanoseconds_now() - start > kGiveUpNanoseconds);
  } while (__syncthreads_or(ends) == 0);
  float sum = 0.0F;
#pragma unroll
  for (int i = 0; i < registers; ++i) sum += values[i];
  // Nobody knows but that it may be.
  if (sum == 0.5F) *signals.sink = sum;
}

using ProbeKernel = void (*)(BlockSignals);

template <std::size_t... numbers>
constexpr std::array<ProbeKernel, kKernels> make_kernels(std::index_sequence<numbers...>) {
  return {hold_multiprocessor<registers_of(static_cast<int>(numbers))>...};
}

const std::array<ProbeKernel, kKernels>& kernels() {
  static const auto all = make_kernels(std::make_index_sequence<kKernels>());
  return all;
}

ProbeKernel kernel_with(int registers) {
  for (int number = 0; number < kKernels; ++number) {
    if (registers_of(number) == registers) return kernels()[static_cast<std::size_t>(number)];
  }
  throw std::invalid_argument("There is no kernel of " + std::to_string(registers) + " registers");
}

struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyStream>;

Stream make_stream() {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return Stream(stream);
}

template <class Condition>
bool wait_until(Condition&& condition, std::chrono::microseconds patience) {
  const auto start = std::chrono::steady_clock::now();
  while (!condition()) {
    if (std::chrono::steady_clock::now() - start > patience) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return true;
}

}  // namespace

/// Page-locked memory that kernels and host share, and streams.
struct BlockProbe::State {
  State() : max_shared(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) {
    for (Stream& stream : streams) stream = make_stream();
  }

  int* released_of(int kernel) { return static_cast<int*>(released.get()) + kernel; }
  void release(int kernel) { *const_cast<volatile int*>(released_of(kernel)) = 1; }

  /// Pages for the places of so many blocks, none of which has started.
  void begin(std::span<const KernelLaunch> launches) {
    std::size_t blocks = 0;
    first_block.clear();
    for (const KernelLaunch& kernel : launches) {
      first_block.push_back(blocks);
      blocks += static_cast<std::size_t>(kernel.blocks);
    }
    if (blocks > capacity) {
      places = make_pinned(blocks * sizeof(int));
      capacity = blocks;
    }
    std::fill_n(static_cast<int*>(places.get()), blocks, kNotStarted);
    std::fill_n(released_of(0), kMaxKernels, 0);
  }

  std::vector<int> places_of(int kernel, int blocks) const {
    const volatile int* const first =
        static_cast<const int*>(places.get()) + first_block[static_cast<std::size_t>(kernel)];
    return {first, first + blocks};
  }

  void start(int number, const KernelLaunch& kernel) {
    const auto place = static_cast<std::size_t>(number);
    launch(kernel_with(kernel.registers),
           {.name = "holding multiprocessors",
            .blocks = dim3(static_cast<unsigned>(kernel.blocks)),
            .threads = dim3(static_cast<unsigned>(kernel.threads)),
            .shared_bytes = static_cast<std::size_t>(kernel.shared_bytes),
            .stream = streams[place].get()},
           BlockSignals{.places = static_cast<int*>(places.get()) + first_block[place],
                        .released = released_of(number),
                        .sink = static_cast<float*>(sink.get())});
  }

  void wait_for_start(int number, const KernelLaunch& kernel) const {
    wait_until(
        [&] {
          const std::vector<int> started = places_of(number, kernel.blocks);
          return std::find(started.begin(), started.end(), kNotStarted) == started.end();
        },
        kPatience);
  }

  void wait_for_end(int number) {
    cudaStream_t stream = streams[static_cast<std::size_t>(number)].get();
    wait_until([&] { return cudaStreamQuery(stream) != cudaErrorNotReady; }, kPatienceToEnd);
  }

  int max_shared;
  std::array<Stream, kMaxKernels> streams;
  Pinned released = make_pinned(kMaxKernels * sizeof(int));
  Pinned sink = make_pinned(sizeof(float));
  Pinned places;
  std::size_t capacity = 0;
  std::vector<std::size_t> first_block;
};

BlockProbe::BlockProbe() : state_(std::make_unique<State>()) {
  for (const ProbeKernel kernel : kernels()) {
    allow_shared_memory(kernel, state_->max_shared);
  }
  for (const int registers : BlockProbe::registers()) {
    const KernelLaunch one{.blocks = 1, .threads = 32, .registers = registers};
    state_->begin({&one, 1});
    state_->release(0);
    state_->start(0, one);
    check_cuda(cudaStreamSynchronize(state_->streams.front().get()), "loading a kernel");
  }
}

BlockProbe::~BlockProbe() {
  for (int kernel = 0; kernel < kMaxKernels; ++kernel) state_->release(kernel);
  cudaDeviceSynchronize();
}

const std::vector<int>& BlockProbe::registers() {
  static const std::vector<int> all = [] {
    std::vector<int> numbers;
    for (int number = 0; number < kKernels; ++number) numbers.push_back(registers_of(number));
    return numbers;
  }();
  return all;
}

int BlockProbe::compiled_registers(int registers) const {
  cudaFuncAttributes attributes = {};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel_with(registers)),
             "asking what a kernel takes");
  return attributes.numRegs;
}

int BlockProbe::max_shared_bytes() const { return state_->max_shared; }

BlockPlaces BlockProbe::run(std::span<const KernelLaunch> kernels, std::span<const int> ended) {
  const int count = static_cast<int>(kernels.size());
  if (count > kMaxKernels) throw std::invalid_argument("More kernels than streams");
  state_->begin(kernels);
  for (int kernel = 0; kernel < count; ++kernel) {
    if (kernel == count - 1) {
      for (const int number : ended) state_->release(number);
      for (const int number : ended) state_->wait_for_end(number);
    }
    state_->start(kernel, kernels[static_cast<std::size_t>(kernel)]);
    state_->wait_for_start(kernel, kernels[static_cast<std::size_t>(kernel)]);
  }
  BlockPlaces places;
  for (int kernel = 0; kernel < count; ++kernel) {
    places.push_back(state_->places_of(kernel, kernels[static_cast<std::size_t>(kernel)].blocks));
  }
  for (int kernel = 0; kernel < count; ++kernel) state_->release(kernel);
  for (int kernel = 0; kernel < count; ++kernel) {
    check_cuda(cudaStreamSynchronize(state_->streams[static_cast<std::size_t>(kernel)].get()),
               "ending a kernel");
  }
  return places;
}

std::vector<int> BlockProbe::tie_order() {
  const KernelLaunch whole{.blocks = device_attribute(cudaDevAttrMultiProcessorCount),
                           .threads = 32,
                           .registers = 32,
                           .shared_bytes = state_->max_shared};
  return run({&whole, 1}).front();
}

GpuModel present_gpu() {
  constexpr int kThreadsPerWarp = 32;
  constexpr int kKibibyte = 1024;
  GpuModel gpu{
      .name = "this GPU",
      .multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount),
      .blocks = device_attribute(cudaDevAttrMaxBlocksPerMultiprocessor),
      .warps = device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / kThreadsPerWarp /
               kSubPartitions,
      .registers = device_attribute(cudaDevAttrMaxRegistersPerMultiprocessor) / kSubPartitions,
      .carve_outs = {}};
  const int most = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / kKibibyte;
  for (const int carve_out : compute_capability_90().carve_outs) {
    if (carve_out < most) gpu.carve_outs.push_back(carve_out);
  }
  gpu.carve_outs.push_back(most);
  return gpu;
}

}  // namespace tessera
