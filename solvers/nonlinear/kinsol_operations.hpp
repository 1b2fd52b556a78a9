// What KINSOL does with vectors beyond what integrators do.
#pragma once

#include <cmath>

#include "solvers/sundials/sundials_vector.hpp"

namespace tessera {

/// KINSOL scales unknowns and residuals by vectors, and takes the largest entries of scaled
/// residuals and steps. We have no scales, and measure all of them by their L2 norms: a vector of
/// scales is one that was never written to and holds no memory, and operations with it do
/// nothing.
template <class Space>
void add_kinsol_operations(_generic_N_Vector_Ops& ops) {
  using NV = SundialsVector<Space>;
  static constexpr auto length = [](N_Vector x) {
    double result = 0.0;
    NV::call(x, [&] { result = std::sqrt(dot(NV::values(x), NV::values(x))); });
    return result;
  };
  ops.nvdotprod = [](N_Vector x, N_Vector y) -> realtype {
    double result = 0.0;
    NV::call(x, [&] { result = dot(NV::values(x), NV::values(y)); });
    return result;
  };
  ops.nvmaxnorm = [](N_Vector x) -> realtype { return length(x); };
  ops.nvwl2norm = [](N_Vector x, N_Vector /*scale*/) -> realtype { return length(x); };
  ops.nvmin = [](N_Vector /*scale*/) -> realtype { return 1.0; };
  // The product with a scale.
  ops.nvprod = [](N_Vector x, N_Vector y, N_Vector z) {
    TESSERA_CHECK(!NV::has_values(x) || !NV::has_values(y));
    N_VScale(1.0, NV::has_values(x) ? x : y, z);
  };
  // The length of a step x is that of x / (1 / scale + |u|), whose denominator we pass over.
  ops.nvabs = ops.nvinv = [](N_Vector, N_Vector) {};
  ops.nvdiv = [](N_Vector x, N_Vector /*denominator*/, N_Vector z) { N_VScale(1.0, x, z); };
}

}  // namespace tessera
