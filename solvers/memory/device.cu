// This file asks CUDA for the GPU's properties, measures its rates, and allocates and copies its
// memory.
#include <algorithm>
#include <atomic>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/memory/device_array.hpp"
#include "solvers/memory/device_choice.hpp"
#include "solvers/memory/launch.cuh"
#include "solvers/memory/staged_copy.hpp"

namespace tessera {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string hidden_devices_hint() {
  const std::optional<std::string> visible = users_visible_devices();
  return visible ? " (CUDA_VISIBLE_DEVICES is \"" + *visible + "\")" : "";
}

void require_answer(cudaError_t status) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw NoDevice(std::string("no GPU can be used: ") + cudaGetErrorString(status) +
                 hidden_devices_hint());
}

cudaEvent_t event(const auto& handle) { return static_cast<cudaEvent_t>(handle.get()); }

std::atomic<std::int64_t> bytes_now{0};
std::atomic<std::int64_t> bytes_peak{0};

void count_allocated(std::int64_t bytes) {
  const std::int64_t now = bytes_now.fetch_add(bytes) + bytes;
  std::int64_t peak = bytes_peak.load();
  while (peak < now && !bytes_peak.compare_exchange_weak(peak, now)) {
  }
}

// Blocks that were given back, for the next that are asked for with one of their sizes: CUDA takes
// ten microseconds to make or to take back a small one and up to a millisecond for a large one, and
// updates of operators ask for dozens. Together they are at most a small share of the GPU's memory,
// and make room where that is asked for.
class SpareBlocks {
 public:
  /// Null if there is none of this size.
  void* take(std::int64_t bytes) {
    const std::scoped_lock lock(guard_);
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
      if (block->bytes != bytes || block->device != current_device()) continue;
      void* const pointer = block->pointer;
      bytes_ -= bytes;
      blocks_.erase(block);
      return pointer;
    }
    return nullptr;
  }
  /// Whether it is kept; it waits for the GPU, as cudaFree does.
  bool keep(void* pointer, std::int64_t bytes) {
    constexpr std::size_t kMostBlocks = 256;
    static const std::int64_t max_of_all = max_bytes();
    const std::int64_t max_here = max_of_all / processes_;
    if (bytes > max_here) return false;
    if (cudaDeviceSynchronize() != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
    const std::scoped_lock lock(guard_);
    while (bytes_ + bytes > max_here || blocks_.size() == kMostBlocks) give_back_first();
    try {
      blocks_.push_back({pointer, bytes, current_device()});
    } catch (const std::bad_alloc&) {
      return false;
    }
    bytes_ += bytes;
    return true;
  }
  void share_with_all(int processes) { processes_ = processes; }
  /// Whether there were any.
  bool give_back() {
    const std::scoped_lock lock(guard_);
    const bool had_some = !blocks_.empty();
    while (!blocks_.empty()) give_back_first();
    return had_some;
  }

 private:
  struct Block {
    void* pointer;
    std::int64_t bytes;
    int device;
  };

  static int current_device() {
    int device = 0;
    cudaGetDevice(&device);
    return device;
  }
  // Of all processes: 512 MiB, on a large GPU 1/64 of its memory, 2.2 GiB of 140.
  static std::int64_t max_bytes() {
    constexpr std::size_t kLeast = std::size_t{512} << 20;
    constexpr std::size_t kShare = 64;
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) cudaGetLastError();
    return static_cast<std::int64_t>(std::max(kLeast, total_bytes / kShare));
  }
  void give_back_first() {
    cudaFree(blocks_.front().pointer);
    bytes_ -= blocks_.front().bytes;
    blocks_.pop_front();
  }

  std::atomic<int> processes_{1};  // that share the GPU
  std::mutex guard_;
  std::deque<Block> blocks_;  // the oldest first
  std::int64_t bytes_ = 0;
};

// It is never destroyed, as other objects give back memory at the end of the program.
SpareBlocks& spare_blocks() {
  static auto* const blocks = new SpareBlocks;
  return *blocks;
}

void* allocate_uncounted(std::int64_t bytes) {
  if (void* const spare = spare_blocks().take(bytes); spare != nullptr) return spare;
  void* pointer = nullptr;
  cudaError_t status = cudaMalloc(&pointer, static_cast<std::size_t>(bytes));
  if (status == cudaErrorMemoryAllocation && spare_blocks().give_back()) {
    cudaGetLastError();
    status = cudaMalloc(&pointer, static_cast<std::size_t>(bytes));
  }
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for the GPU's memory");
    throw DeviceOutOfMemory("out of GPU memory: " + std::to_string(bytes >> 20) +
                            " MiB were asked for, " + std::to_string(free_bytes >> 20) +
                            " MiB are free");
  }
  check_cuda(status, "allocating GPU memory");
  return pointer;
}

struct FreeUncounted {
  void operator()(void* pointer) const { cudaFree(pointer); }
};
using UncountedArray = std::unique_ptr<void, FreeUncounted>;

constexpr int kThreads = 256;
constexpr int kChains = 8;  // of multiply-adds that do not wait for each other

// steps kChains multiply-adds a thread; `out` stays as it is, which the compiler cannot know.
template <class T>
__global__ void __launch_bounds__(kThreads) fma_kernel(int steps, T factor, T term, T* out) {
  T sums[kChains];
#pragma unroll
  for (int chain = 0; chain < kChains; ++chain) sums[chain] = static_cast<T>(threadIdx.x + chain);
#pragma unroll 16
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) sums[chain] = sums[chain] * factor + term;
  }
  T sum{0};
#pragma unroll
  for (int chain = 0; chain < kChains; ++chain) sum += sums[chain];
  if (sum < T{0}) out[threadIdx.x] = sum;
}

// y = x so many times, past the L1 caches.
__global__ void __launch_bounds__(kThreads)
    copy_in_l2_kernel(int passes, std::int64_t n, const double2* x, double2* y) {
  for (int pass = 0; pass < passes; ++pass) {
#pragma unroll 4
    for (std::int64_t i = thread_number<kThreads>(); i < n; i += thread_count<kThreads>()) {
      __stcg(y + i, __ldcg(x + i));
    }
  }
}

// Sums of x so many times, past the L1 caches; x is 0 and y stays as it is, which the compiler
// cannot know.
__global__ void __launch_bounds__(kThreads)
    read_in_l2_kernel(int passes, std::int64_t n, const double2* x, double2* y) {
  double2 sum{0.0, 0.0};
  for (int pass = 0; pass < passes; ++pass) {
#pragma unroll 4
    for (std::int64_t i = thread_number<kThreads>(); i < n; i += thread_count<kThreads>()) {
      const double2 value = __ldcg(x + i);
      sum.x += value.x;
      sum.y += value.y;
    }
  }
  if (sum.x + sum.y != 0.0) y[threadIdx.x] = sum;
}

// Of the fastest of several launches; a GPU that was idle needs some milliseconds to its full
// clock.
template <class F>
double min_seconds(F&& launch_once) {
  constexpr int kRepetitions = 10;
  constexpr double kSeconds = 0.01;
  DeviceStopwatch stopwatch;
  double least = std::numeric_limits<double>::infinity();
  double sum = 0.0;
  for (int r = 0; r < kRepetitions || sum < kSeconds; ++r) {
    stopwatch.start();
    launch_once();
    const double seconds = stopwatch.stop();
    least = std::min(least, seconds);
    sum += seconds;
  }
  return least;
}

template <class T>
double fma_rate(unsigned blocks) {
  constexpr int kSteps = 2048;
  const UncountedArray out(allocate_uncounted(kThreads * sizeof(T)));
  const double seconds = min_seconds([&] {
    launch(fma_kernel<T>, {"chains of multiply-adds", blocks, kThreads}, kSteps, T(0.5), T(1),
           static_cast<T*>(out.get()));
  });
  return 2.0 * kSteps * kChains * kThreads * static_cast<double>(blocks) / seconds;
}

}  // namespace

DeviceInfo require_device() {
  int driver = 0;
  // The call leaves 0 where there is no driver at all.
  require_answer(cudaDriverGetVersion(&driver));
  if (driver == 0) throw NoDevice("no GPU can be used: there is no NVIDIA driver on this machine");
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver) {
    throw NoDevice("no GPU can be used: the driver serves CUDA up to " + version_text(driver) +
                   ", this build needs " + version_text(CUDART_VERSION));
  }
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    throw NoDevice("no GPU can be used: the driver finds none" + hidden_devices_hint());
  }
  require_answer(status);
  int device = 0;
  require_answer(cudaGetDevice(&device));
  cudaDeviceProp properties{};
  require_answer(cudaGetDeviceProperties(&properties, device));
  constexpr int kMinMajor = 8;
  if (properties.major < kMinMajor) {
    throw NoDevice(std::string("no GPU can be used: the ") + properties.name +
                   " has compute capability " + std::to_string(properties.major) + "." +
                   std::to_string(properties.minor) + ", this build needs 8.0 or newer");
  }
  spare_blocks().give_back();
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  // This call starts work on the GPU, and fails if another program has all of it.
  require_answer(cudaMemGetInfo(&free_bytes, &total_bytes));
  char bus_id[32] = {};
  require_answer(cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), device));
  return {properties.name,
          bus_id,
          properties.major,
          properties.minor,
          properties.multiProcessorCount,
          static_cast<std::int64_t>(total_bytes),
          static_cast<std::int64_t>(free_bytes),
          driver,
          properties.l2CacheSize};
}

void share_device(int processes) { spare_blocks().share_with_all(processes); }

void synchronize_device() {
  check_cuda(cudaStreamSynchronize(device_stream()), "waiting for the GPU");
}

void* allocate_on_device(std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  void* const pointer = allocate_uncounted(bytes);
  count_allocated(bytes);
  return pointer;
}

void free_on_device(void* pointer, std::int64_t bytes) noexcept {
  if (pointer == nullptr) return;
  // cudaFree fails only after an error that has been reported already.
  if (!spare_blocks().keep(pointer, bytes)) cudaFree(pointer);
  bytes_now.fetch_sub(bytes);
}

std::int64_t peak_device_bytes() { return bytes_peak.load(); }

void copy_to_device(const void* host, std::int64_t bytes, void* device) {
  if (bytes == 0) return;
  if (bytes >= kMinStagedCopy) {
    upload_staged(host, bytes, device);
    return;
  }
  enqueue_copy(device, host, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice,
               "copying to the GPU");
  synchronize_device();
}

void copy_to_host(const void* device, std::int64_t bytes, void* host) {
  if (bytes == 0) return;
  if (bytes >= kMinStagedCopy) {
    download_staged(device, bytes, host);
    return;
  }
  enqueue_copy(host, device, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost,
               "copying from the GPU");
  synchronize_device();
}

void zero_on_device(void* device, std::int64_t bytes) {
  if (bytes == 0) return;
  check_cuda(cudaMemsetAsync(device, 0, static_cast<std::size_t>(bytes), device_stream()),
             "zeroing GPU memory");
}

double measure_device_copy_bandwidth() {
  const std::int64_t wanted = std::int64_t{2} << 30;
  const std::int64_t bytes = std::min(wanted, require_device().free_bytes / 4);
  const UncountedArray x(allocate_uncounted(bytes));
  const UncountedArray y(allocate_uncounted(bytes));
  zero_on_device(x.get(), bytes);
  return 2.0 * static_cast<double>(bytes) / min_seconds([&] {
           enqueue_copy(y.get(), x.get(), static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                        "copying on the GPU");
         });
}

DevicePeaks measure_device_peaks() {
  constexpr int kPasses = 32;
  constexpr unsigned kBlocksOfMultiprocessor = 8;
  constexpr std::int64_t kMinValues = 1 << 16;
  const DeviceInfo gpu = require_device();
  const unsigned blocks = kBlocksOfMultiprocessor * static_cast<unsigned>(gpu.multiprocessors);
  const std::int64_t n =
      std::max(gpu.l2_bytes / 4 / static_cast<std::int64_t>(sizeof(double2)), kMinValues);
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(double2));
  const UncountedArray x(allocate_uncounted(bytes));
  const UncountedArray y(allocate_uncounted(bytes));
  zero_on_device(x.get(), bytes);
  const auto seconds_of = [&](auto kernel) {
    return min_seconds([&] {
      launch(kernel, {"sweeps over the L2 cache", blocks, kThreads}, kPasses, n,
             static_cast<const double2*>(x.get()), static_cast<double2*>(y.get()));
    });
  };
  const double read_bytes = kPasses * static_cast<double>(bytes);
  return {std::max(2.0 * read_bytes / seconds_of(copy_in_l2_kernel),
                   read_bytes / seconds_of(read_in_l2_kernel)),
          fma_rate<double>(blocks), fma_rate<float>(blocks)};
}

void DeviceStopwatch::DestroyEvent::operator()(void* handle) const {
  cudaEventDestroy(static_cast<cudaEvent_t>(handle));
}

DeviceStopwatch::Event DeviceStopwatch::make_event() {
  cudaEvent_t made = nullptr;
  check_cuda(cudaEventCreate(&made), "creating an event");
  return Event(made);
}

DeviceStopwatch::DeviceStopwatch() : begin_(make_event()), end_(make_event()) {}

void DeviceStopwatch::start() { record(event(begin_)); }

double DeviceStopwatch::stop() {
  record(event(end_));
  check_cuda(cudaEventSynchronize(event(end_)), "waiting for the GPU");
  float milliseconds = 0.0F;
  check_cuda(cudaEventElapsedTime(&milliseconds, event(begin_), event(end_)),
             "reading the time between events");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace tessera
