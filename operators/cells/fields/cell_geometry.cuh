// These device functions find positions and Jacobians at the quadrature points of a mapped cell.
#pragma once

#include "operators/cells/fields/cell_points.cuh"

namespace tessera {

/// What a team keeps of a mapped cell: tensors of `size` values for the points, one after the
/// other, and two to work with, which have room for the nodes as well.
struct CellTensors {
  double* in;
  double* other;
  double* position;  // [dim]
  double* jacobian;  // [dim][dim]
  int size;
};

/// x_d [n]^dim -> B -> [m]^dim -> D along each axis -> J [dim][dim][m]^dim, by the team. Ends at a
/// barrier.
/// @param D [q][q], as Basis1D
__device__ inline void find_geometry(const CellTeam& team, const CellGrid& grid,
                                     const PointPlaces& points, const double* D,
                                     const CellPlace& place, const CellTensors& t) {
  const int dim = grid.dimension;
  const int m = points.points;
  for (int d = 0; d < dim; ++d) {
    const double origin = cell_origin(points, place, d);
    const double* values = relative_positions(team, grid, points, place, d, origin, t.in, t.other);
    team.for_each(t.size, [&](int q) { t.position[d * t.size + q] = values[q] + origin; });
    int fast = 1;
    for (int a = 0; a < dim; ++a, fast *= m) {
      contract_axis(team, D, m, m, fast, t.size / (fast * m), values,
                    t.jacobian + (d * dim + a) * t.size);
    }
  }
}

/// |J| of entries J[a][b] = dx_a / dxi_b at j[(a dim + b) size].
__device__ inline double determinant(const double* j, int size, int dim) {
  if (dim == 2) return j[0] * j[3 * size] - j[size] * j[2 * size];
  return j[0] * (j[4 * size] * j[8 * size] - j[5 * size] * j[7 * size]) -
         j[size] * (j[3 * size] * j[8 * size] - j[5 * size] * j[6 * size]) +
         j[2 * size] * (j[3 * size] * j[7 * size] - j[4 * size] * j[6 * size]);
}

}  // namespace tessera
