// This kernel is the program of the study finishing-time.
#pragma once

#include <cstddef>

#include "src/studies/finishing_time/warp_programs.hpp"

namespace tessera {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kMaxWarpsPerBlock = kMaxThreads / kThreadsPerGpuWarp;
/// Two blocks of this size are all that a multiprocessor holds, so no third one can join them.
constexpr int kMaxBlocks = 2;
/// In which the other block of a multiprocessor has seen when to start.
constexpr long long kCyclesBeforeStart = 10'000;
/// After which no other block is waited for.
constexpr unsigned long long kMaxNanosecondsToMeet = 100'000'000;
/// The program runs as often in a launch; the last time counts.
constexpr int kPasses = 2;

/// How an instruction finds its data; fresh: in the L2 cache or below, each load elsewhere.
enum class Path { shared, cached, uncached, fresh };

struct ProgramArguments {
  void* global;      ///< two values a thread, for each pass
  long long* begin;  ///< of each warp, by block
  long long* end;
  int* multiprocessors;  ///< of each block
  int blocks;            ///< on a multiprocessor
  int* arrived;          ///< blocks in each pass, by multiprocessor, 0 at first
  long long* starts;     ///< clocks at which passes start, likewise
  int stride;            ///< values between fresh data of a thread
  int pass_offset;       ///< values between the data of two passes; 0: the same data
};

__device__ int multiprocessor() {
  int number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

__device__ unsigned long long nanoseconds_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Each of these is one instruction that is not merged with another: plain loads would be. Volatile
// ones from global memory would be sent to the L2 cache, relaxed ones within a block are not.
template <Path path>
__device__ float load(const float* from) {
  float value;
  if constexpr (path == Path::shared) {
    asm volatile("ld.volatile.shared.f32 %0, [%1];"
                 : "=f"(value)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(from))));
  } else if constexpr (path == Path::cached) {
    asm volatile("ld.relaxed.cta.global.f32 %0, [%1];" : "=f"(value) : "l"(from));
  } else {
    asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(value) : "l"(from));
  }
  return value;
}
template <Path path>
__device__ double load(const double* from) {
  double value;
  if constexpr (path == Path::shared) {
    asm volatile("ld.volatile.shared.f64 %0, [%1];"
                 : "=d"(value)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(from))));
  } else if constexpr (path == Path::cached) {
    asm volatile("ld.relaxed.cta.global.f64 %0, [%1];" : "=d"(value) : "l"(from));
  } else {
    asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(value) : "l"(from));
  }
  return value;
}
template <Path path>
__device__ void store(float* to, float value) {
  if constexpr (path == Path::shared) {
    asm volatile("st.shared.f32 [%0], %1;"
                 :
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "f"(value)
                 : "memory");
  } else {
    asm volatile("st.global.f32 [%0], %1;" : : "l"(to), "f"(value) : "memory");
  }
}
template <Path path>
__device__ void store(double* to, double value) {
  if constexpr (path == Path::shared) {
    asm volatile("st.shared.f64 [%0], %1;"
                 :
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "d"(value)
                 : "memory");
  } else {
    asm volatile("st.global.f64 [%0], %1;" : : "l"(to), "d"(value) : "memory");
  }
}
__device__ void multiply_add(float x, float y, float& sum) {
  asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(x), "f"(y));
}
__device__ void multiply_add(double x, double y, double& sum) {
  asm volatile("fma.rn.f64 %0, %1, %2, %0;" : "+d"(sum) : "d"(x), "d"(y));
}

template <class T, Path path, WarpWork work, int repetitions>
__device__ void run_once(T* a, T* b, int stride, T& sum) {
  T* const first = a;
  // Where data are not to be fresh, this is no instruction.
  const auto go_on = [&] {
    if constexpr (path == Path::fresh) {
      a += stride;
      b += stride;
    }
  };
  if constexpr (work == WarpWork::program) {
    multiply_add(sum, sum, sum);
#pragma unroll
    for (int k = 0; k < repetitions; ++k) {
      const T x = load<path>(a);
      const T y = load<path>(b);
      multiply_add(x, y, sum);
      go_on();
    }
    store<path>(first, sum);
  } else if constexpr (work == WarpWork::loads) {
    T sums[4] = {sum, sum, sum, sum};
#pragma unroll
    for (int k = 0; k < kInstructionsAlone / 2; ++k) {
      const T x = load<path>(a);
      const T y = load<path>(b);
      // Loads from global memory are dropped unless somebody wants what they bring; the other unit
      // is not what limits.
      if constexpr (path != Path::shared) multiply_add(x, y, sums[k % 4]);
      go_on();
    }
    sum = sums[0] + sums[1] + sums[2] + sums[3];
  } else {
    // Four chains, so that the latency of one is not in the way.
    T sums[4] = {sum, sum + T(1), sum + T(2), sum + T(3)};
#pragma unroll
    for (int k = 0; k < kInstructionsAlone; ++k) multiply_add(sum, sum, sums[k % 4]);
    sum = sums[0] + sums[1] + sums[2] + sums[3];
  }
}

// The clock at which both blocks of a multiprocessor start, that of the later one and some; if the
// other one does not come, this one starts alone. For all threads.
__device__ long long agreed_start(const ProgramArguments& arguments, int pass) {
  __shared__ long long agreed;
  if (threadIdx.x == 0) {
    const int place = multiprocessor() * kPasses + pass;
    volatile int* const arrived = arguments.arrived + place;
    volatile long long* const start = arguments.starts + place;
    const bool is_last = atomicAdd(arguments.arrived + place, 1) == kMaxBlocks - 1;
    if (is_last) {
      *start = clock64() + kCyclesBeforeStart;
      __threadfence();
      atomicAdd(arguments.arrived + place, 1);
    }
    const unsigned long long came = nanoseconds_now();
    while (*arrived <= kMaxBlocks && nanoseconds_now() - came < kMaxNanosecondsToMeet) {
    }
    __threadfence();
    agreed = *start;
  }
  __syncthreads();
  return agreed;
}

template <class T, Path path, WarpWork work, int repetitions>
__global__ void __launch_bounds__(kMaxThreads) run_program(ProgramArguments arguments) {
  extern __shared__ double shared[];
  const int threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  T sum = T(0.5);
  long long begin = 0;
  long long end = 0;
#pragma unroll 1
  for (int pass = 0; pass < kPasses; ++pass) {
    T* a = reinterpret_cast<T*>(shared) + thread;
    if constexpr (path != Path::shared) {
      a = static_cast<T*>(arguments.global) +
          std::size_t{pass == 0 ? 0U : 1U} * arguments.pass_offset +
          std::size_t{2} * blockIdx.x * threads + thread;
    }
    T* const b = a + threads;
    if constexpr (path == Path::shared) {
      *a = T(0.25);
      *b = T(0.5);
    }
    __syncthreads();
    const long long start = arguments.blocks > 1 ? agreed_start(arguments, pass) : 0;
    // Each warp waits for itself: the compiler reads a clock before a barrier rather than after it.
    do {
      begin = clock64();
    } while (begin < start);
    run_once<T, path, work, repetitions>(a, b, arguments.stride, sum);
    end = clock64();
    __syncthreads();
  }
  // Nobody knows but that it may be.
  if (sum == T(-1)) *static_cast<T*>(arguments.global) = sum;
  if (thread % kThreadsPerGpuWarp != 0) return;
  const int warp = static_cast<int>(blockIdx.x) * kMaxWarpsPerBlock + thread / kThreadsPerGpuWarp;
  arguments.begin[warp] = begin;
  arguments.end[warp] = end;
  arguments.multiprocessors[blockIdx.x] = multiprocessor();
}

}  // namespace
}  // namespace tessera
