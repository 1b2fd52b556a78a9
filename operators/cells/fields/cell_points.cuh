// These device functions find the quadrature points of a cell, and nodal functions there.
#pragma once

#include "operators/cells/block_contraction.cuh"
#include "operators/cells/cell_access.cuh"
#include "operators/cells/cell_sizes.cuh"
#include "operators/cells/fields/device_points.hpp"
#include "operators/cells/point_numbers.cuh"

namespace tessera {

/// Coordinate d of a point of a cell that is not mapped. @param along its number on that axis
__device__ inline double point_on_axis(const CellGrid& grid, const PointPlaces& points,
                                       const CellPlace& place, int d, int along) {
  const Index begin = static_cast<Index>(place.position[d]) * grid.degree;
  return points.nodes.position[d][begin] +
         points.width[d][place.position[d]] * points.abscissas[along];
}

/// Values at the points of a cell, tensors [m]^dim that lie `room` values apart: the coordinates of
/// a mapped cell, less those of its first node, so that the size of the box costs no digits; and
/// u.
struct PointTensors {
  const double* positions;  // [dim]; null: the cell is not mapped
  const double* u;          // null: nobody asked for it
  double* free;             // room for as many tensors again
  int room;
  double origin[3];  // of positions

  /// Coordinate d of point q of a mapped cell.
  __device__ double coordinate(int d, int q) const { return positions[d * room + q] + origin[d]; }
};

/// The first `count` of these nodal functions, less a constant each, at the points of a cell:
/// [n]^dim -> B -> [m]^dim, by the team. They lie in the first half of `scratch`.
template <int count, class Team, class Sizes>
__device__ inline void interpolate(const Team& team, const Sizes& sizes, const CellGrid& grid,
                                   const PointPlaces& points, const CellPlace& place,
                                   const double* const (&nodal)[4], const double (&less)[4],
                                   double* scratch, int room) {
  double* const second = scratch + count * room;
  double* const in = sizes.dim == 3 ? second : scratch;
  team.for_each(sizes.nodes, [&](int i) {
    const Index node = cell_node(sizes, grid, place, i).lattice;
#pragma unroll
    for (int k = 0; k < count; ++k) in[k * room + i] = nodal[k][node] - less[k];
  });
  __syncthreads();
  contract_all_axes_of<count>(team, points.B, sizes.m, sizes.n, sizes.dim, in,
                              sizes.dim == 3 ? scratch : second, room);
}

/// Positions of the points of a mapped cell, and u at the points, by the team. Ends at a barrier
/// unless there is neither.
/// @param u at the nodes; null: not needed
/// @param scratch of twice as many tensors as are asked for, m^dim values each
template <class Team, class Sizes>
__device__ inline PointTensors find_at_points(const Team& team, const Sizes& sizes,
                                              const CellGrid& grid, const PointPlaces& points,
                                              const CellPlace& place, const double* u,
                                              double* scratch) {
  const int dim = sizes.dim;
  const int room = sizes.size;  // m is p + 1 or more
  const bool is_mapped = points.nodes.is_mapped;
  const double* nodal[4] = {u, nullptr, nullptr, nullptr};
  double origin[4] = {0.0, 0.0, 0.0, 0.0};
  if (is_mapped) {
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      if (d == dim) break;
      nodal[d] = points.nodes.position[d];
      origin[d] = nodal[d][place.first_node];
    }
    nodal[2] = dim == 2 ? u : nodal[2];
    nodal[3] = u;
  }
  const int count = (is_mapped ? dim : 0) + (u != nullptr ? 1 : 0);
  switch (count) {
    case 1:
      interpolate<1>(team, sizes, grid, points, place, nodal, origin, scratch, room);
      break;
    case 2:
      interpolate<2>(team, sizes, grid, points, place, nodal, origin, scratch, room);
      break;
    case 3:
      interpolate<3>(team, sizes, grid, points, place, nodal, origin, scratch, room);
      break;
    case 4:
      interpolate<4>(team, sizes, grid, points, place, nodal, origin, scratch, room);
      break;
    default:
      break;
  }
  return {is_mapped ? scratch : nullptr,
          u != nullptr ? scratch + (count - 1) * room : nullptr,
          scratch + count * room,
          room,
          {origin[0], origin[1], origin[2]}};
}

}  // namespace tessera
