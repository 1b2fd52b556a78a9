// This function turns dimension and degree, which are known at run time, into constants.
#pragma once

#include "mesh/with_constant.hpp"
#include "operators/cells/cell_kernel_limits.hpp"

namespace tessera {

/// f.operator()<dimension, P>() with P = degree up to kMaxFastDegree, else P = 0: code that takes
/// the degree at run time.
template <class F>
auto with_size(int dimension, int degree, F&& f) {
  const auto with_degree = [&]<int dim>() {
    if (degree > kMaxFastDegree) return f.template operator()<dim, 0>();
    return with_constant<1, kMaxFastDegree>(
        degree, [&]<int P>() { return f.template operator()<dim, P>(); });
  };
  if (dimension == 2) return with_degree.template operator()<2>();
  return with_degree.template operator()<3>();
}

}  // namespace tessera
