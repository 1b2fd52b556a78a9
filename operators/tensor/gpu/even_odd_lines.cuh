// These are products of one line by even-odd decomposition on the GPU.
#pragma once

#include "operators/tensor/gpu/arguments.cuh"

namespace tessera {

/// A 1D matrix of R rows and C columns split for the even-odd decomposition, which halves the
/// multiplications (mesh/element/sum_factorization.hpp), as a kernel parameter. [row][column].
template <class T, int R, int C>
struct EvenOddLines {
  static constexpr int kHalfRows = (R + 1) / 2;
  static constexpr int kHalfColumns = (C + 1) / 2;
  T even[kHalfRows * kHalfColumns];
  T odd[kHalfRows * kHalfColumns];
};

/// out = M in along one line in registers; sign is +1 for matrices of values, -1 for derivatives.
template <int sign, class T, int R, int C>
__device__ __forceinline__ void multiply_even_odd(const EvenOddLines<T, R, C>& matrix,
                                                  const T (&in)[C], T (&out)[R]) {
  constexpr int half = EvenOddLines<T, R, C>::kHalfColumns;
  constexpr int pairs = C / 2;
  T e[half];
  T o[half];
#pragma unroll
  for (int b = 0; b < pairs; ++b) {
    e[b] = in[b] + in[C - 1 - b];
    o[b] = in[b] - in[C - 1 - b];
  }
  if constexpr (C % 2 == 1) e[half - 1] = in[pairs];
#pragma unroll
  for (int a = 0; a < R / 2; ++a) {
    T even = matrix.even[a * half] * e[0];
#pragma unroll
    for (int b = 1; b < half; ++b) even += matrix.even[a * half + b] * e[b];
    T odd = matrix.odd[a * half] * o[0];
#pragma unroll
    for (int b = 1; b < pairs; ++b) odd += matrix.odd[a * half + b] * o[b];
    out[a] = even + odd;
    out[R - 1 - a] = sign > 0 ? even - odd : odd - even;
  }
  if constexpr (R % 2 == 1) {
    constexpr int a = R / 2;
    T sum{0};
#pragma unroll
    for (int b = 0; b < (sign > 0 ? half : pairs); ++b) {
      sum += sign > 0 ? matrix.even[a * half + b] * e[b] : matrix.odd[a * half + b] * o[b];
    }
    out[a] = sum;
  }
}

/// line = M line, in memory: C entries become R.
template <int sign, class T, int R, int C>
__device__ __forceinline__ void replace_line_even_odd(const EvenOddLines<T, R, C>& matrix, T* line,
                                                      int stride) {
  T in[C];
  T out[R];
  load_line(line, stride, in);
  multiply_even_odd<sign>(matrix, in, out);
  store_line(line, stride, out);
}

}  // namespace tessera
