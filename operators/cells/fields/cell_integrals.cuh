// These device functions integrate over a cell against nodal functions and their gradients.
#pragma once

#include "operators/cells/fields/cell_geometry.cuh"
#include "operators/cells/fields/cell_integrator.hpp"

namespace tessera {

/// flux = scale J^-1 J^-T g, gradients in reference coordinates.
__device__ inline void make_flux(const PointOfCell& point, double scale, int dim,
                                 const double (&g)[3], double (&flux)[3]) {
  const double(&inverse)[3][3] = point.inverse.at;
  double physical[3] = {0.0, 0.0, 0.0};
#pragma unroll
  for (int a = 0; a < 3; ++a) {
#pragma unroll
    for (int b = 0; b < 3; ++b) {
      if (a < dim && b < dim) physical[a] += inverse[b][a] * g[b];
    }
  }
#pragma unroll
  for (int b = 0; b < 3; ++b) {
    flux[b] = 0.0;
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      if (a < dim && b < dim) flux[b] += scale * inverse[b][a] * physical[a];
    }
  }
}

/// Integrals of v phi_i + flux . grad_xi phi_i over a cell, weights included in both: [m]^dim ->
/// D^T along each axis -> B^T -> [n]^dim, by the team. Ends at a barrier. Returns where they lie.
/// @param v tensors `room` values apart: v, then the flux along each axis; written over
/// @param sum room for one tensor
template <class Team, class Sizes>
__device__ inline const double* integrate(const Team& team, const Sizes& sizes,
                                          const BasisTables& basis, double* v, double* sum,
                                          int room) {
  const int dim = sizes.dim;
  const int m = sizes.m;
  team.for_each(sizes.size, [&](int q) {
    const PointNumbers number(q, m, dim);
    double total = v[q];
    int stride = 1;
#pragma unroll
    for (int a = 0; a < 3; ++a, stride *= m) {
      if (a == dim) break;
      const double* const entries = basis.D_transposed + number.along[a] * m;
      const double* line = v + (1 + a) * room + q - number.along[a] * stride;
      double along_axis = 0.0;
      for (int b = 0; b < m; ++b, line += stride) along_axis += entries[b] * *line;
      total += along_axis;
    }
    sum[q] = total;
  });
  __syncthreads();
  return contract_all_axes(team, basis.B_transposed, sizes.n, m, dim, sum, v);
}

}  // namespace tessera
