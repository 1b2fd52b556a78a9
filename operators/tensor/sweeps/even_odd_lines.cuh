// These are products of one line by even-odd decomposition on the GPU.
#pragma once

#include "operators/tensor/sweeps/even_odd_matrices.hpp"
#include "operators/tensor/sweeps/lines_in_registers.cuh"

namespace tessera {

/// A line x of C values as sums and differences: even_b = x_b + x_{C-1-b} (the middle value alone
/// where C is odd), odd_b = x_b - x_{C-1-b}.
template <class T, int C>
struct LineFold {
  static constexpr int kHalf = (C + 1) / 2;
  static constexpr int kPairs = C / 2;
  T even[kHalf];
  T odd[kHalf];

  __device__ __forceinline__ explicit LineFold(const T (&x)[C]) {
#pragma unroll
    for (int b = 0; b < kPairs; ++b) {
      even[b] = x[b] + x[C - 1 - b];
      odd[b] = x[b] - x[C - 1 - b];
    }
    if constexpr (C % 2 == 1) even[kHalf - 1] = x[kPairs];
  }
};

/// sum + the products of row[b] and x[b], begin <= b < end.
template <int begin, int end, class T, int half>
__device__ __forceinline__ T add_products(const T* row, const T (&x)[half], T sum) {
#pragma unroll
  for (int b = begin; b < end; ++b) sum += row[b] * x[b];
  return sum;
}

/// sum + (E e)_a and sum + (O o)_a of a folded line.
template <class T, int R, int C>
__device__ __forceinline__ T add_even_part(const EvenOddLines<T, R, C>& matrix, int a,
                                           const LineFold<T, C>& in, T sum) {
  return add_products<0, (C + 1) / 2>(matrix.even_row(a), in.even, sum);
}
template <class T, int R, int C>
__device__ __forceinline__ T add_odd_part(const EvenOddLines<T, R, C>& matrix, int a,
                                          const LineFold<T, C>& in, T sum) {
  return add_products<0, C / 2>(matrix.odd_row(a), in.odd, sum);
}

/// The same without a sum before.
template <class T, int R, int C>
__device__ __forceinline__ T even_part(const EvenOddLines<T, R, C>& matrix, int a,
                                       const LineFold<T, C>& in) {
  const T* row = matrix.even_row(a);
  return add_products<1, (C + 1) / 2>(row, in.even, row[0] * in.even[0]);
}
template <class T, int R, int C>
__device__ __forceinline__ T odd_part(const EvenOddLines<T, R, C>& matrix, int a,
                                      const LineFold<T, C>& in) {
  const T* row = matrix.odd_row(a);
  return add_products<1, C / 2>(row, in.odd, row[0] * in.odd[0]);
}

/// out = M in along one line in registers; sign is +1 for matrices of values, -1 for derivatives.
template <int sign, class T, int R, int C>
__device__ __forceinline__ void multiply_even_odd(const EvenOddLines<T, R, C>& matrix,
                                                  const LineFold<T, C>& in, T (&out)[R]) {
#pragma unroll
  for (int a = 0; a < R / 2; ++a) {
    const T even = even_part(matrix, a, in);
    const T odd = odd_part(matrix, a, in);
    out[a] = even + odd;
    out[R - 1 - a] = sign > 0 ? even - odd : odd - even;
  }
  if constexpr (R % 2 == 1) {
    out[R / 2] = sign > 0 ? even_part(matrix, R / 2, in) : odd_part(matrix, R / 2, in);
  }
}
template <int sign, class T, int R, int C>
__device__ __forceinline__ void multiply_even_odd(const EvenOddLines<T, R, C>& matrix,
                                                  const T (&in)[C], T (&out)[R]) {
  multiply_even_odd<sign>(matrix, LineFold<T, C>(in), out);
}

/// out = V v + W w, V of values; sign says what W is, as for multiply_even_odd().
template <int sign, class T, int R, int C>
__device__ __forceinline__ void add_even_odd(const EvenOddLines<T, R, C>& V,
                                             const LineFold<T, C>& v,
                                             const EvenOddLines<T, R, C>& W,
                                             const LineFold<T, C>& w, T (&out)[R]) {
  const auto add_symmetric = [&](int a, T sum) {
    return sign > 0 ? add_even_part(W, a, w, sum) : add_odd_part(W, a, w, sum);
  };
  const auto add_antisymmetric = [&](int a, T sum) {
    return sign > 0 ? add_odd_part(W, a, w, sum) : add_even_part(W, a, w, sum);
  };
#pragma unroll
  for (int a = 0; a < R / 2; ++a) {
    const T even = add_symmetric(a, even_part(V, a, v));
    const T odd = add_antisymmetric(a, odd_part(V, a, v));
    out[a] = even + odd;
    out[R - 1 - a] = even - odd;
  }
  if constexpr (R % 2 == 1) out[R / 2] = add_symmetric(R / 2, even_part(V, R / 2, v));
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
