// These device functions evaluate a nodal function in a cell, and integrate against its gradients.
#pragma once

#include "operators/cells/fields/cell_geometry.cuh"
#include "operators/cells/fields/cell_integrator.hpp"

namespace tessera {

/// What a team keeps of a cell for the integrals: two tensors to work with, which have room for
/// the nodes, values and gradients at the points.
struct IntegralTensors {
  double* in;
  double* other;
  double* value;     // [m]^dim
  double* gradient;  // [dim][m]^dim
  int size;
};

/// v -> value, and D along each axis -> gradient, by the team. Ends at a barrier.
/// @param v at the points, and not in `value`
__device__ inline void find_gradient(const CellTeam& team, const BasisTables& basis, int dim, int m,
                                     const double* v, const IntegralTensors& t) {
  team.for_each(t.size, [&](int q) { t.value[q] = v[q]; });
  int fast = 1;
  for (int a = 0; a < dim; ++a, fast *= m) {
    contract_axis(team, basis.D, m, m, fast, t.size / (fast * m), v, t.gradient + a * t.size);
  }
}

/// Integrals of value phi_i + gradient . grad_xi phi_i, weights included in both: [m]^dim -> D^T
/// along each axis -> B^T -> [n]^dim, by the team. Ends at a barrier. Returns where they lie: in
/// `in` or in `other`.
__device__ inline double* integrate(const CellTeam& team, const BasisTables& basis, int dim, int n,
                                    int m, const IntegralTensors& t) {
  team.for_each(t.size, [&](int q) { t.in[q] = t.value[q]; });
  int fast = 1;
  for (int a = 0; a < dim; ++a, fast *= m) {
    contract_axis(team, basis.D_transposed, m, m, fast, t.size / (fast * m),
                  t.gradient + a * t.size, t.other);
    team.for_each(t.size, [&](int q) { t.in[q] += t.other[q]; });
    __syncthreads();
  }
  return contract_all_axes(team, basis.B_transposed, n, m, dim, t.in, t.other);
}

/// J^-1[b][a] = dxi_b / dx_a of J[a][b] at j[(a dim + b) size].
__device__ inline void invert_jacobian(const double* j, int size, int dim, double determinant,
                                       double (&inverse)[3][3]) {
  if (dim == 2) {
    inverse[0][0] = j[3 * size] / determinant;
    inverse[0][1] = -j[size] / determinant;
    inverse[1][0] = -j[2 * size] / determinant;
    inverse[1][1] = j[0] / determinant;
    return;
  }
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      const int a1 = (a + 1) % 3;
      const int a2 = (a + 2) % 3;
      const int b1 = (b + 1) % 3;
      const int b2 = (b + 2) % 3;
      inverse[b][a] = (j[(a1 * 3 + b1) * size] * j[(a2 * 3 + b2) * size] -
                       j[(a1 * 3 + b2) * size] * j[(a2 * 3 + b1) * size]) /
                      determinant;
    }
  }
}

/// A quadrature point of a cell.
struct PointOfCell {
  double x[3];
  double weight;  // w |J|
  double inverse[3][3];
};

/// Point q of a cell; of a mapped one find_geometry() has been called.
__device__ inline PointOfCell point_of_cell(const CellGrid& grid, const PointPlaces& points,
                                            const CellPlace& place, const CellTensors& geometry,
                                            int q) {
  const int dim = grid.dimension;
  PointOfCell point{};
  point.weight = 1.0;
  int rest = q;
  for (int d = 0; d < dim; ++d, rest /= points.points) {
    const int along = rest % points.points;
    point.weight *= points.weights[along];
    if (points.nodes.is_mapped) {
      point.x[d] = geometry.position[d * geometry.size + q];
    } else {
      const double width = points.width[d][place.position[d]];
      point.x[d] = point_on_axis(grid, points, place, d, along);
      point.weight *= width;
      point.inverse[d][d] = 1.0 / width;
    }
  }
  if (points.nodes.is_mapped) {
    const double* const j = geometry.jacobian + q;
    const double of_cell = determinant(j, geometry.size, dim);
    invert_jacobian(j, geometry.size, dim, of_cell, point.inverse);
    point.weight *= of_cell;
  }
  return point;
}

/// flux = scale J^-1 J^-T gradient at point q, gradients in reference coordinates.
__device__ inline void make_flux(const PointOfCell& point, double scale, int dim, int q,
                                 const IntegralTensors& t, double (&flux)[3]) {
  double physical[3] = {0.0, 0.0, 0.0};
  for (int a = 0; a < dim; ++a) {
    for (int b = 0; b < dim; ++b) {
      physical[a] += point.inverse[b][a] * t.gradient[b * t.size + q];
    }
  }
  for (int b = 0; b < dim; ++b) {
    flux[b] = 0.0;
    for (int a = 0; a < dim; ++a) flux[b] += scale * point.inverse[b][a] * physical[a];
  }
}

/// The tensors of a cell in a team's scratch, one after the other: first those of the integrals,
/// then those of its geometry, which works in the first two.
__device__ inline IntegralTensors integral_tensors(double* scratch, int room, int size) {
  double* const value = scratch + 2 * room;
  return {scratch, scratch + room, value, value + size, size};
}
__device__ inline CellTensors geometry_tensors(const IntegralTensors& t, int dim) {
  double* const position = t.gradient + dim * t.size;
  return {t.in, t.other, position, position + dim * t.size, t.size};
}

}  // namespace tessera
