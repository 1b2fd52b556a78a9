// These device functions find a cell of a launch, its nodes and their values.
#pragma once

#include "operators/cells/cell_sizes.cuh"
#include "operators/cells/device_cells.hpp"
#include "operators/cells/small_divisor.cuh"

namespace tessera {

/// One cell of a range, as kernels see it. Masks have bit 2 d for the cell's lower face along axis
/// d and bit 2 d + 1 for its upper face.
struct CellPlace {
  int position[3];
  Index first_node;  // lattice index of its node (0, 0, 0)
  unsigned fixed;    // faces on constrained faces of the box
  unsigned earlier;  // faces shared with cells of lower colors
};

/// The cell at first + step * index, which is in the grid.
__device__ inline CellPlace place_cell(const CellGrid& grid, const CellRange& range, int ix, int iy,
                                       int iz) {
  CellPlace place{{range.first[0] + range.step * ix, range.first[1] + range.step * iy,
                   range.first[2] + range.step * iz},
                  0,
                  0U,
                  0U};
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    place.first_node += grid.degree * (place.position[d] * grid.nodes.strides[d]);
    if (d == grid.dimension) break;
    const bool at_upper = place.position[d] + 1 == grid.cells[d];
    if (place.position[d] == 0) place.fixed |= grid.dirichlet & (1U << (2 * d));
    if (at_upper) place.fixed |= grid.dirichlet & (2U << (2 * d));
    if (place.position[d] % 2 == 1) place.earlier |= (at_upper ? 1U : 3U) << (2 * d);
  }
  return place;
}

/// The cell with this number in the range.
__device__ inline CellPlace place_cell(const CellGrid& grid, const CellRange& range, Index number) {
  const int ix = static_cast<int>(number % range.count[0]);
  const Index row = number / range.count[0];
  return place_cell(grid, range, ix, static_cast<int>(row % range.count[1]),
                    static_cast<int>(row / range.count[1]));
}

/// The faces of a cell on which its node lies that is number i of 0 .. p along axis d.
__device__ inline unsigned face_mask(int d, int i, int p) {
  return ((i == 0 ? 1U : 0U) | (i == p ? 2U : 0U)) << (2 * d);
}

/// Whether a node of the lattice lies on a Dirichlet face.
__device__ inline bool is_constrained(const CellGrid& grid, Index node) {
  const IndexTriple position = grid.nodes.position(node);
  unsigned faces = 0U;
  for (int d = 0; d < grid.dimension; ++d) {
    faces |= face_mask(d, static_cast<int>(position[d]), grid.cells[d] * grid.degree);
  }
  return (faces & grid.dirichlet) != 0U;
}

/// A node of a cell, as kernels see it.
struct CellNode {
  Index lattice;   // index in the lattice
  int local;       // index in the cell, x fastest
  unsigned faces;  // of the cell, on which it lies
};

/// Node number `local` of a cell of n = p + 1 nodes an axis.
template <class Sizes>
__device__ inline CellNode cell_node(const Sizes& sizes, const CellGrid& grid,
                                     const CellPlace& place, int local) {
  const int n = sizes.n;
  const SmallDivisor by_n(n);
  const int row = by_n.quotient(local);
  const int k = by_n.quotient(row);
  const int i = local - row * n;
  const int j = row - k * n;
  unsigned faces = face_mask(0, i, n - 1) | face_mask(1, j, n - 1);
  if (sizes.dim == 3) faces |= face_mask(2, k, n - 1);
  return {place.first_node + grid.nodes.index(i, j, k), local, faces};
}
__device__ inline CellNode cell_node(const CellGrid& grid, const CellPlace& place, int local) {
  return cell_node(CellSizes<0, 0>(grid, 0), grid, place, local);
}

/// u at one node of a cell.
template <class T>
__device__ inline T load_node(const CellSource<T>& source, const CellPlace& place,
                              const CellNode& node) {
  if (source.x == nullptr) return node.local == source.unit_node ? T{1} : T{0};
  return (place.fixed & node.faces) != 0U ? T{0} : source.x[node.lattice];
}

/// Puts v of one node of a cell where the sink says; for SinkKind::patch the brick is this cell.
/// @param number of the cell in its range
template <class T>
__device__ inline void store_node(const CellSink<T>& sink, const CellPlace& place, Index number,
                                  const CellNode& node, T v) {
  if (sink.kind == SinkKind::cells) {
    sink.values[number * sink.cell_stride + node.local] = v;
    return;
  }
  T* y = sink.values + node.lattice;
  if ((place.fixed & node.faces) != 0U) {
    *y = sink.x[node.lattice];
  } else if (sink.kind == SinkKind::add_atomic || sink.kind == SinkKind::patch) {
    atomicAdd(y, v);
  } else if (sink.kind == SinkKind::first_or_add && (place.earlier & node.faces) == 0U) {
    *y = v;
  } else {
    *y += v;
  }
}

}  // namespace tessera
