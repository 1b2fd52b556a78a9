// These types say where the coefficients of a stencil lie in memory.
#pragma once

#include "mesh/node_lattice.hpp"
#include "mesh/saturated.hpp"

namespace tessera {

/// A step from a node to one that shares a cell with it.
struct StencilOffset {
  int x;
  int y;
  int z;
};

/// The neighbors k = 1 .. kNeighbors later in the lattice order than a node, itself as k = 0. In 2D
/// the second axis is called z, so that z is the slowest axis always, and y has one node.
template <int dim>
struct StencilNeighbors {
  static constexpr int kNeighbors = dim == 3 ? 13 : 4;
  /// The first of those with z = 1.
  static constexpr int kFirstAbove = dim == 3 ? 5 : 2;

  static constexpr StencilOffset offset(int k) {
    const int n = k + kNeighbors;
    return dim == 3 ? StencilOffset{n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1}
                    : StencilOffset{n % 3 - 1, 0, n / 3 - 1};
  }
};

/// Where the coefficients of a stencil matrix are: [z][y][k][x], x fastest, so that what a row of
/// nodes needs is one piece of memory; rows are padded to whole cache lines of 64 bytes.
/// Coefficient k of node (x, y, z) is number k array + x + y row + z plane. Padding is not used,
/// nor is the value of a coefficient whose neighbor is out of the lattice, but that must be finite.
struct StencilLayout {
  int extent[3];  // nodes along each axis, {n_x, 1, n_y} in 2D
  int x_row;      // of a vector: from a row of nodes to the next
  Index array;    // n_x with padding
  Index row;
  Index plane;
};

inline constexpr Index kStencilLineBytes = 64;

/// The most nodes along an axis: they are counted in 32 bits, with tiles that end beyond the last.
inline constexpr Index kMaxStencilExtent = (Index{1} << 31) - (Index{1} << 16);

/// Coefficients of a node.
constexpr Index stencil_arrays(int dimension) {
  return 1 + (dimension == 3 ? StencilNeighbors<3>::kNeighbors : StencilNeighbors<2>::kNeighbors);
}

/// @param lattice with at most kMaxStencilExtent nodes along an axis
inline StencilLayout make_stencil_layout(const NodeLattice& lattice, Index value_bytes) {
  const IndexTriple& extents = lattice.extents();
  const int slowest = lattice.dimension() - 1;
  const Index line = kStencilLineBytes / value_bytes;
  const Index arrays = stencil_arrays(lattice.dimension());
  const Index rows = slowest == 2 ? extents[1] : 1;
  const Index array = ceil_div(extents[0], line) * line;
  return {
      {static_cast<int>(extents[0]), static_cast<int>(rows), static_cast<int>(extents[slowest])},
      static_cast<int>(lattice.stride(1)),
      array,
      arrays * array,
      rows * arrays * array};
}

/// Values of all coefficients of a matrix.
inline Index stencil_values(const StencilLayout& layout) { return layout.plane * layout.extent[2]; }

/// The same of a lattice whose extents may be beyond what a layout counts.
inline Index stencil_values(const NodeLattice& lattice, Index value_bytes) {
  const IndexTriple& extents = lattice.extents();
  const Index line = kStencilLineBytes / value_bytes;
  return Saturated(ceil_div(extents[0], line) * line) * stencil_arrays(lattice.dimension()) *
         extents[1] * extents[2];
}

}  // namespace tessera
