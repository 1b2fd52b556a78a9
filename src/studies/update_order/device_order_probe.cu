// The kernels of the order probe.
#include <stdexcept>
#include <type_traits>

#include "solvers/interruption.hpp"
#include "solvers/memory/captured_graph.hpp"
#include "solvers/memory/launch.cuh"
#include "src/studies/update_order/device_order_probe.hpp"

namespace tessera {
namespace {

constexpr int kCountThreads = kProbePeriod;
constexpr int kCountBlocks = 1024;

// Loads and stores race by design, so they are instructions that the compiler neither merges nor
// moves.
template <LoadPath path>
__device__ double load(const double* entry) {
  double value;
  if constexpr (path == LoadPath::l2) {
    asm volatile("ld.global.cg.f64 %0, [%1];" : "=d"(value) : "l"(entry) : "memory");
  } else {
    asm volatile("ld.global.ca.f64 %0, [%1];" : "=d"(value) : "l"(entry) : "memory");
  }
  return value;
}
__device__ void store(double* entry, double value) {
  asm volatile("st.global.f64 [%0], %1;" ::"l"(entry), "d"(value) : "memory");
}

// Both neighbors are loaded before the test, so that the lanes of a warp stay together.
template <LoadPath path>
__device__ void update(int n, const double* from, double* to, int i) {
  if (i <= 0 || i >= n - 1) return;
  const double right = load<path>(&from[i + 1]);
  const double left = load<path>(&from[i - 1]);
  if (right == 1.0 && left == 1.0) store(&to[i], 0.0);
}

// kernel0 with another vector, kernel1 with the same one.
template <LoadPath path>
__global__ void update_kernel(int n, const double* from, double* to) {
  update<path>(n, from, to, static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
}

// kernel2. What the listing does with indices beyond the block, and at its last component, is
// repaired: each thread tests the neighbors of its own component, those of other blocks in global
// memory.
template <LoadPath path, int kBlock>
__global__ void __launch_bounds__(kBlock) update_in_shared_kernel(int n, double* values) {
  __shared__ volatile double part[kBlock];
  const int thread = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x) * kBlock + thread;
  part[thread] = load<path>(&values[i]);
  __syncthreads();
  double beyond = 0.0;
  if (thread == 0 && i > 0) beyond = load<path>(&values[i - 1]);
  if (thread == kBlock - 1 && i < n - 1) beyond = load<path>(&values[i + 1]);
  // The warps may go on as they like, but the lanes of one together.
  __syncwarp();
  const double right = part[thread < kBlock - 1 ? thread + 1 : thread];
  const double left = part[thread > 0 ? thread - 1 : thread];
  const bool is_right_one = (thread < kBlock - 1 ? right : beyond) == 1.0;
  const bool is_left_one = (thread > 0 ? left : beyond) == 1.0;
  // At the ends of the vector `beyond` is 0.
  if (is_right_one && is_left_one) part[thread] = 0.0;
  __syncthreads();
  store(&values[i], part[thread]);
}

// counts[i mod kProbePeriod] += inner components that stayed 1, counts[kProbePeriod] += those that
// can be no result; `next` becomes ones. The grid strides by a multiple of the period, so that a
// thread counts for one component number only.
__global__ void __launch_bounds__(kCountThreads)
    count_kernel(int n, const double* __restrict__ values, double* __restrict__ next,
                 unsigned long long* counts) {
  unsigned long long inconsistent = 0;
  unsigned long long faults = 0;
  for (std::int64_t i = thread_number<kCountThreads>(); i < n; i += thread_count<kCountThreads>()) {
    const double value = values[i];
    const bool is_end = i == 0 || i == n - 1;
    if (is_end) {
      faults += value != 1.0 ? 1 : 0;
    } else if (value == 1.0) {
      ++inconsistent;
      faults += values[i - 1] != 0.0 && values[i + 1] != 0.0 ? 1 : 0;
    } else {
      faults += value != 0.0 ? 1 : 0;
    }
    next[i] = 1.0;
  }
  if (inconsistent > 0) atomicAdd(&counts[threadIdx.x], inconsistent);
  if (faults > 0) atomicAdd(&counts[kProbePeriod], faults);
}

__global__ void fill_ones_kernel(std::int64_t n, double* values) {
  for (std::int64_t i = thread_number<kCountThreads>(); i < n; i += thread_count<kCountThreads>()) {
    values[i] = 1.0;
  }
}

// kernel1 of blocks that take a ticket first. `tickets` is 0 at the start.
__global__ void start_kernel(int n, double* values, unsigned* tickets, BlockStart* starts) {
  if (threadIdx.x == 0) {
    BlockStart start;
    start.ticket = atomicAdd(tickets, 1U);
    asm volatile("mov.u32 %0, %%smid;" : "=r"(start.multiprocessor));
    unsigned long long nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    start.nanoseconds = nanoseconds;
    starts[blockIdx.x] = start;
  }
  __syncthreads();
  update<LoadPath::l2>(n, values, values, static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
}

void fill_ones(DeviceArray<double>& values) {
  launch(
      fill_ones_kernel,
      {"filling with ones", blocks_for(values.size(), kCountThreads, kCountBlocks), kCountThreads},
      values.size(), values.data());
}

template <LoadPath path>
void launch_update(const ProbeSetup& setup, const double* ones, DeviceArray<double>& values) {
  const int n = static_cast<int>(values.size());
  const Launch as = {.name = "updating a vector",
                     .blocks = dim3(blocks_for(n, setup.block)),
                     .threads = dim3(static_cast<unsigned>(setup.block))};
  if (setup.kernel != ProbeKernel::kernel2) {
    const bool is_control = setup.kernel == ProbeKernel::kernel0;
    launch(update_kernel<path>, as, n, is_control ? ones : values.data(), values.data());
  } else if (setup.block == 128) {
    launch(update_in_shared_kernel<path, 128>, as, n, values.data());
  } else {
    launch(update_in_shared_kernel<path, 256>, as, n, values.data());
  }
}

void require_block(const ProbeSetup& setup) {
  for (const int block : probe_blocks(setup.kernel)) {
    if (block == setup.block) return;
  }
  throw std::invalid_argument("the probe has no blocks of " + std::to_string(setup.block) +
                              " threads");
}

}  // namespace

std::vector<int> probe_blocks(ProbeKernel kernel) {
  if (kernel == ProbeKernel::kernel2) return {128, 256};
  return {8, 16, 32, 64, 128, 256};
}

DeviceOrderProbe::DeviceOrderProbe(Index components)
    : ones_(components), even_(components), odd_(components), counts_(kProbePeriod + 1) {
  if (components % kProbePeriod != 0 || components < kProbePeriod) {
    throw std::invalid_argument("the probe's vector is no multiple of its period");
  }
  fill_ones(ones_);
}

void DeviceOrderProbe::enqueue(const ProbeSetup& setup, DeviceArray<double>& from,
                               DeviceArray<double>& next) {
  if (setup.path == LoadPath::l2) {
    launch_update<LoadPath::l2>(setup, ones_.data(), from);
  } else {
    launch_update<LoadPath::cached>(setup, ones_.data(), from);
  }
  launch(count_kernel,
         {"counting inconsistencies", blocks_for(from.size(), kCountThreads, kCountBlocks),
          kCountThreads},
         static_cast<int>(from.size()), from.data(), next.data(), counts_.data());
}

ProbeResult DeviceOrderProbe::run(const ProbeSetup& setup, std::int64_t executions) {
  require_block(setup);
  zero_on_device(counts_.data(), counts_.bytes());
  fill_ones(even_);
  // A kernel runs once before it is captured, since CUDA may load it then.
  enqueue(setup, even_, odd_);
  zero_on_device(counts_.data(), counts_.bytes());
  fill_ones(even_);
  static_assert(kBatch % 2 == 0, "a batch ends with the vector that the next begins with");
  const ExecutableGraph batch = executable(captured([&] {
    for (int k = 0; k < kBatch; k += 2) {
      enqueue(setup, even_, odd_);
      enqueue(setup, odd_, even_);
    }
  }));
  ProbeResult result;
  DeviceStopwatch stopwatch;
  while (result.executions < executions) {
    stop_if_requested();
    stopwatch.start();
    launch_graph(batch);
    result.seconds.push_back(stopwatch.stop() / kBatch);
    result.executions += kBatch;
  }
  const std::vector<unsigned long long> counts = to_host(counts_);
  for (int j = 0; j < kProbePeriod; ++j) {
    result.counts[j] = static_cast<std::int64_t>(counts[j]);
  }
  result.faults = static_cast<std::int64_t>(counts[kProbePeriod]);
  return result;
}

std::vector<BlockStart> DeviceOrderProbe::starts(int block) {
  const auto n = static_cast<int>(even_.size());
  DeviceArray<BlockStart> starts(n / block);
  DeviceArray<unsigned> tickets(1);
  zero_on_device(tickets.data(), tickets.bytes());
  fill_ones(even_);
  launch(start_kernel, {"taking tickets", blocks_for(n, block), dim3(static_cast<unsigned>(block))},
         n, even_.data(), tickets.data(), starts.data());
  return to_host(starts);
}

Index DeviceOrderProbe::resident_blocks_of_starts(int block) const {
  return resident_blocks(start_kernel, block, 0);
}

}  // namespace tessera
