// These device functions find the quadrature points of a cell.
#pragma once

#include "operators/cells/block_contraction.cuh"
#include "operators/cells/cell_access.cuh"
#include "operators/cells/fields/device_points.hpp"

namespace tessera {

/// Coordinate d of a point of a cell that is not mapped. @param along its number on that axis
__device__ inline double point_on_axis(const CellGrid& grid, const PointPlaces& points,
                                       const CellPlace& place, int d, int along) {
  const Index begin = static_cast<Index>(place.position[d]) * grid.degree;
  return points.nodes.position[d][begin] +
         points.width[d][place.position[d]] * points.abscissas[along];
}

/// Coordinate d of the points of a mapped cell less `origin`, which is that of the cell's first
/// node, so that the size of the box costs no digits: x_d [n]^dim -> B -> [m]^dim, by the team.
/// Ends at a barrier. Returns where it lies: in `in` or in `other`, which have room for max(n,
/// m)^dim values each.
__device__ inline double* relative_positions(const CellTeam& team, const CellGrid& grid,
                                             const PointPlaces& points, const CellPlace& place,
                                             int d, double origin, double* in, double* other) {
  const int n = grid.degree + 1;
  const int nodes = grid.dimension == 3 ? n * n * n : n * n;
  team.for_each(nodes, [&](int i) {
    in[i] = points.nodes.position[d][cell_node(grid, place, i).lattice] - origin;
  });
  __syncthreads();
  return contract_all_axes(team, points.B, points.points, n, grid.dimension, in, other);
}

/// u at the points of a cell: as relative_positions(), with u at the nodes in `values`.
__device__ inline double* state_at_points(const CellTeam& team, const CellGrid& grid,
                                          const PointPlaces& points, const CellPlace& place,
                                          const double* values, double* in, double* other) {
  const int n = grid.degree + 1;
  const int nodes = grid.dimension == 3 ? n * n * n : n * n;
  team.for_each(nodes, [&](int i) { in[i] = values[cell_node(grid, place, i).lattice]; });
  __syncthreads();
  return contract_all_axes(team, points.B, points.points, n, grid.dimension, in, other);
}

/// Coordinate d of a mapped cell's first node.
__device__ inline double cell_origin(const PointPlaces& points, const CellPlace& place, int d) {
  return points.nodes.position[d][place.first_node];
}

}  // namespace tessera
