// These device functions find derivatives and Jacobians at the quadrature points of a cell.
#pragma once

#include "operators/cells/fields/cell_points.cuh"

namespace tessera {

/// The first `dim` rows and columns count.
struct SmallMatrix {
  double at[3][3];
};

/// Derivatives of `count` functions at point q of a cell, by one thread: d[k][a] =
/// sum_b D[q_a][b] v_k[.., b, ..], b along axis a.
/// @param D [q][q], as Basis1D
/// @param v at the points, tensors `room` values apart
template <int count, class Sizes>
__device__ inline void differentiate(const double* D, const Sizes& sizes,
                                     const PointNumbers& number, int q, const double* v, int room,
                                     double (&d)[count][3]) {
  int stride = 1;
#pragma unroll
  for (int a = 0; a < 3; ++a, stride *= sizes.m) {
    if (a == sizes.dim) break;
    const double* const entries = D + number.along[a] * sizes.m;
    const double* line = v + q - number.along[a] * stride;
    double sum[count] = {};
    for (int b = 0; b < sizes.m; ++b, line += stride) {
      const double entry = entries[b];
#pragma unroll
      for (int k = 0; k < count; ++k) sum[k] += entry * line[k * room];
    }
#pragma unroll
    for (int k = 0; k < count; ++k) d[k][a] = sum[k];
  }
}

/// J[a][b] = dx_a / dxi_b at point q of a mapped cell, by one thread.
template <class Sizes>
__device__ inline SmallMatrix jacobian_at(const double* D, const Sizes& sizes,
                                          const PointNumbers& number, int q,
                                          const PointTensors& t) {
  SmallMatrix J{};
  if (sizes.dim == 3) {
    differentiate(D, sizes, number, q, t.positions, t.room, J.at);
    return J;
  }
  double d[2][3] = {};
  differentiate(D, sizes, number, q, t.positions, t.room, d);
#pragma unroll
  for (int a = 0; a < 2; ++a) {
#pragma unroll
    for (int b = 0; b < 2; ++b) J.at[a][b] = d[a][b];
  }
  return J;
}

__device__ inline double determinant(const SmallMatrix& J, int dim) {
  const double(&j)[3][3] = J.at;
  if (dim == 2) return j[0][0] * j[1][1] - j[0][1] * j[1][0];
  return j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) -
         j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0]) +
         j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]);
}

/// Cofactor (a, b) in 3D: |J| J^-1[b][a].
__device__ inline double cofactor(const SmallMatrix& J, int a, int b) {
  const double(&j)[3][3] = J.at;
  const int a1 = (a + 1) % 3;
  const int a2 = (a + 2) % 3;
  const int b1 = (b + 1) % 3;
  const int b2 = (b + 2) % 3;
  return j[a1][b1] * j[a2][b2] - j[a1][b2] * j[a2][b1];
}

/// J^-1[b][a] = dxi_b / dx_a.
__device__ inline SmallMatrix inverse_of(const SmallMatrix& J, int dim, double determinant) {
  const double(&j)[3][3] = J.at;
  const double scale = 1.0 / determinant;  // one division instead of nine
  SmallMatrix inverse{};
  if (dim == 2) {
    inverse.at[0][0] = j[1][1] * scale;
    inverse.at[0][1] = -j[0][1] * scale;
    inverse.at[1][0] = -j[1][0] * scale;
    inverse.at[1][1] = j[0][0] * scale;
    return inverse;
  }
#pragma unroll
  for (int a = 0; a < 3; ++a) {
#pragma unroll
    for (int b = 0; b < 3; ++b) inverse.at[b][a] = cofactor(J, a, b) * scale;
  }
  return inverse;
}

/// A quadrature point of a cell.
struct PointOfCell {
  double x[3];
  double weight;        // w |J|
  SmallMatrix inverse;  // dxi_b / dx_a
};

/// Point q of a cell. @param t of find_at_points()
template <class Sizes>
__device__ inline PointOfCell point_of_cell(const Sizes& sizes, const CellGrid& grid,
                                            const PointPlaces& points, const double* D,
                                            const CellPlace& place, const PointNumbers& number,
                                            int q, const PointTensors& t) {
  const int dim = sizes.dim;
  PointOfCell point{};
  point.weight = 1.0;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    if (d == dim) break;
    point.weight *= points.weights[number.along[d]];
    if (points.nodes.is_mapped) {
      point.x[d] = t.coordinate(d, q);
    } else {
      const double width = points.width[d][place.position[d]];
      point.x[d] = point_on_axis(grid, points, place, d, number.along[d]);
      point.weight *= width;
      point.inverse.at[d][d] = 1.0 / width;
    }
  }
  if (points.nodes.is_mapped) {
    const SmallMatrix J = jacobian_at(D, sizes, number, q, t);
    const double of_cell = determinant(J, dim);
    point.inverse = inverse_of(J, dim, of_cell);
    point.weight *= of_cell;
  }
  return point;
}

}  // namespace tessera
