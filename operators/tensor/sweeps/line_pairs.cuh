// Lines of pairs go through shared memory two numbers at a time: of u interpolated, and of u
// differentiated along one axis.
#pragma once

#include "operators/cells/value_pair.cuh"
#include "operators/tensor/sweeps/even_odd_lines.cuh"

namespace tessera {

/// (values[i], derivatives[i]) = line[i stride].
template <int n, class T>
__device__ __forceinline__ void load_pairs(const ValuePair<T>* line, int stride, T (&values)[n],
                                           T (&derivatives)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const ValuePair<T> pair = line[i * stride];
    values[i] = pair.x;
    derivatives[i] = pair.y;
  }
}

/// line[i stride] = (values[i], derivatives[i]).
template <int n, class T>
__device__ __forceinline__ void store_pairs(ValuePair<T>* line, int stride, const T (&values)[n],
                                            const T (&derivatives)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) line[i * stride] = ValuePair<T>{values[i], derivatives[i]};
}

/// line[a stride] = ((V x)_a, (W x)_a), V of values; sign says what W is, as for
/// multiply_even_odd().
template <int sign, class T, int R, int C>
__device__ __forceinline__ void store_products(const EvenOddLines<T, R, C>& V,
                                               const EvenOddLines<T, R, C>& W, const T (&x)[C],
                                               ValuePair<T>* line, int stride) {
  const LineFold<T, C> folded(x);
  T values[R];
  T derivatives[R];
  multiply_even_odd<1>(V, folded, values);
  multiply_even_odd<sign>(W, folded, derivatives);
  store_pairs(line, stride, values, derivatives);
}

/// out = V v + W w of the pairs (v_b, w_b) = line[b stride].
template <int sign, class T, int R, int C>
__device__ __forceinline__ void load_sum_of_products(const EvenOddLines<T, R, C>& V,
                                                     const EvenOddLines<T, R, C>& W,
                                                     const ValuePair<T>* line, int stride,
                                                     T (&out)[R]) {
  T v[C];
  T w[C];
  load_pairs(line, stride, v, w);
  add_even_odd<sign>(V, LineFold<T, C>(v), W, LineFold<T, C>(w), out);
}

}  // namespace tessera
