// This function turns degree and quadrature rule, which are known at run time, into constants.
#pragma once

#include "mesh/with_constant.hpp"
#include "operators/cells/cell_kernel_limits.hpp"

namespace tessera {

/// Whether degree and points an axis have a kernel unrolled at compile time.
constexpr bool has_fast_tensor_kernel(int degree, int points) {
  return degree <= kMaxFastDegree && (points == degree + 1 || points == degree + 2);
}

/// f.operator()<P, M>() with P = degree and M = points where has_fast_tensor_kernel(), else
/// P = M = 0: code that takes both at run time.
template <class F>
auto with_rule(int degree, int points, F&& f) {
  if (!has_fast_tensor_kernel(degree, points)) return f.template operator()<0, 0>();
  return with_constant<1, kMaxFastDegree>(degree, [&]<int P>() {
    return with_constant<P + 1, P + 2>(points,
                                       [&]<int M>() { return f.template operator()<P, M>(); });
  });
}

}  // namespace tessera
