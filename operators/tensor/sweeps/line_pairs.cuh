// Lines of pairs go through shared memory two numbers at a time.
#pragma once

#include <type_traits>

namespace tessera {

/// Two numbers that go from line to line by one instruction: of u interpolated (x), and of u
/// differentiated along one axis (y).
template <class T>
using LinePair = std::conditional_t<sizeof(T) == sizeof(double), double2, float2>;

/// (values[i], derivatives[i]) = line[i stride].
template <int n, class T>
__device__ __forceinline__ void load_pairs(const LinePair<T>* line, int stride, T (&values)[n],
                                           T (&derivatives)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const LinePair<T> pair = line[i * stride];
    values[i] = pair.x;
    derivatives[i] = pair.y;
  }
}

/// line[i stride] = (values[i], derivatives[i]).
template <int n, class T>
__device__ __forceinline__ void store_pairs(LinePair<T>* line, int stride, const T (&values)[n],
                                            const T (&derivatives)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) line[i * stride] = LinePair<T>{values[i], derivatives[i]};
}

}  // namespace tessera
