// These functions use instructions that only some generations of GPUs have.
#pragma once

// Others are compiled once for all generations, as if for the earliest (cmake/cuda.cmake).
#ifndef TESSERA_BY_GENERATION
#error \
    "a file with instructions of some generations stands after BY_GENERATION in tessera_add_cuda_sources"
#endif

namespace tessera {

/// Generations of GPUs, in order, by the instructions that Tessera has use for.
enum class Generation {
  ampere,  ///< compute capability 8, the least that Tessera runs on
  hopper,  ///< compute capability 9 and later: bulk prefetches, larger FP64 tensor operations
};

/// The generation that the current pass of the compiler makes device code for. What has a variant
/// for each generation takes this one by default; tests name the earlier ones.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
inline constexpr Generation kGeneration = Generation::hopper;
#else
inline constexpr Generation kGeneration = Generation::ampere;
#endif

/// Asks the L2 cache for memory that will be read.
/// @param bytes a multiple of 16; one thread asks for all of them
template <Generation generation = kGeneration>
__device__ __forceinline__ void prefetch_to_l2(const void* from, unsigned bytes) {
  if constexpr (generation >= Generation::hopper) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes));
  } else {
    constexpr unsigned kLineBytes = 128;
    const char* const first = static_cast<const char*>(from);
    for (unsigned at = 0; at < bytes; at += kLineBytes) {
      asm volatile("prefetch.global.L2 [%0];" ::"l"(first + at));
    }
    // Lines begin at multiples of their size, `from` need not: the last byte may be on one more.
    asm volatile("prefetch.global.L2 [%0];" ::"l"(first + bytes - 1));
  }
}

/// sum += A B, 16 x 8, over 4 columns of A, by the 32 threads of a warp. With g = lane / 4 and
/// k = lane % 4 a lane has A[g][k], A[g + 8][k], B[k][g], and of the sum [g][2 k], [g][2 k + 1],
/// [g + 8][2 k], [g + 8][2 k + 1].
template <Generation generation = kGeneration>
__device__ __forceinline__ void multiply_add_16x8x4(double a_upper, double a_lower, double b,
                                                    double* sum) {
  if constexpr (generation >= Generation::hopper) {
    asm volatile(
        "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(a_upper), "d"(a_lower), "d"(b));
  } else {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(sum[0]), "+d"(sum[1])
                 : "d"(a_upper), "d"(b));
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(sum[2]), "+d"(sum[3])
                 : "d"(a_lower), "d"(b));
  }
}

/// The same over 8 columns of A: a lane has A[g][k], A[g + 8][k], A[g][k + 4], A[g + 8][k + 4] and
/// B[k][g], B[k + 4][g].
template <Generation generation = kGeneration>
__device__ __forceinline__ void multiply_add_16x8x8(const double (&a)[4], const double (&b)[2],
                                                    double* sum) {
  if constexpr (generation >= Generation::hopper) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
  } else {
    multiply_add_16x8x4<generation>(a[0], a[1], b[0], sum);
    multiply_add_16x8x4<generation>(a[2], a[3], b[1], sum);
  }
}

}  // namespace tessera
