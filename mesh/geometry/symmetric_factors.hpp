// These functions compute |J| and the symmetric matrix |J| J^-1 J^-T of one point for a vector of
// cells.
#pragma once

#include "mesh/lanes/simd.hpp"

namespace tessera {

/// s |J| J^-1 J^-T of J[a][b] = dx_a / dxi_b: entries xx xy yy in 2D, xx xy xz yy yz zz in 3D. J^-1
/// = adj(J) / |J|, so that one division suffices.
template <int dim>
[[gnu::always_inline]] inline void symmetric_factors(const Lanes<double> (&J)[dim][dim],
                                                     Lanes<double> scale, Lanes<double>* entries) {
  if constexpr (dim == 2) {
    const Lanes<double> s = scale / (J[0][0] * J[1][1] - J[0][1] * J[1][0]);
    entries[0] = s * (J[1][1] * J[1][1] + J[0][1] * J[0][1]);
    entries[1] = -s * (J[1][1] * J[1][0] + J[0][1] * J[0][0]);
    entries[2] = s * (J[1][0] * J[1][0] + J[0][0] * J[0][0]);
  } else {
    Lanes<double> adjugate[3][3];
    for (int a = 0; a < 3; ++a) {
      const int a1 = (a + 1) % 3;
      const int a2 = (a + 2) % 3;
      for (int b = 0; b < 3; ++b) {
        const int b1 = (b + 1) % 3;
        const int b2 = (b + 2) % 3;
        adjugate[b][a] = J[a1][b1] * J[a2][b2] - J[a1][b2] * J[a2][b1];
      }
    }
    const Lanes<double> s =
        scale / (J[0][0] * adjugate[0][0] + J[0][1] * adjugate[1][0] + J[0][2] * adjugate[2][0]);
    int entry = 0;
    for (int a = 0; a < 3; ++a) {
      for (int b = a; b < 3; ++b) {
        entries[entry++] = s * (adjugate[a][0] * adjugate[b][0] + adjugate[a][1] * adjugate[b][1] +
                                adjugate[a][2] * adjugate[b][2]);
      }
    }
  }
}

/// |J|.
[[gnu::always_inline]] inline Lanes<double> determinant(const Lanes<double> (&J)[2][2]) {
  return J[0][0] * J[1][1] - J[0][1] * J[1][0];
}
[[gnu::always_inline]] inline Lanes<double> determinant(const Lanes<double> (&J)[3][3]) {
  return J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) +
         J[0][1] * (J[1][2] * J[2][0] - J[1][0] * J[2][2]) +
         J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
}

/// The floating-point operations of symmetric_factors() per point.
constexpr double symmetric_factor_flops(int dimension) { return dimension == 2 ? 17.0 : 69.0; }

}  // namespace tessera
