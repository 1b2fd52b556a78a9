// This file has the order of VTK's nodes: corners, edges, faces, interior.
#include "postprocess/vtk/vtk_cells.hpp"

namespace tessera {
namespace {

// The corners of a quadrilateral go around it.
int corner(int i, int j) { return i > 0 ? (j > 0 ? 2 : 1) : (j > 0 ? 3 : 0); }

// Of node (i, j) on the boundary of a quadrilateral with n nodes inside each edge, from the first
// such node on; edges are bottom, right, top, left.
int edge_node(int i, int j, int n) {
  const bool is_inside_x = 0 < i && i <= n;
  if (is_inside_x) return i - 1 + (j > 0 ? 2 * n : 0);
  return j - 1 + (i > 0 ? n : 3 * n);
}

int quadrilateral_node(int i, int j, int degree) {
  const int n = degree - 1;
  const int ends = int(i % degree == 0) + int(j % degree == 0);
  if (ends == 2) return corner(i, j);
  if (ends == 1) return 4 + edge_node(i, j, n);
  return 4 + 4 * n + (i - 1) + n * (j - 1);
}

int hexahedron_node(int i, int j, int k, int degree) {
  const int n = degree - 1;
  const bool ends_x = i % degree == 0;
  const bool ends_y = j % degree == 0;
  const bool ends_z = k % degree == 0;
  const int ends = int(ends_x) + int(ends_y) + int(ends_z);
  if (ends == 3) return corner(i, j) + (k > 0 ? 4 : 0);
  int first = 8;
  if (ends == 2) {
    if (ends_z) return first + edge_node(i, j, n) + (k > 0 ? 4 * n : 0);
    return first + 8 * n + n * corner(i, j) + (k - 1);
  }
  first += 12 * n;
  if (ends == 1) {
    if (ends_x) return first + (j - 1) + n * (k - 1) + (i > 0 ? n * n : 0);
    if (ends_y) return first + 2 * n * n + (i - 1) + n * (k - 1) + (j > 0 ? n * n : 0);
    return first + 4 * n * n + (i - 1) + n * (j - 1) + (k > 0 ? n * n : 0);
  }
  return first + 6 * n * n + (i - 1) + n * ((j - 1) + n * (k - 1));
}

}  // namespace

int vtk_cell_type(int dimension, int degree) {
  constexpr int kQuadrilateral = 9;
  constexpr int kHexahedron = 12;
  constexpr int kLagrangeQuadrilateral = 70;
  constexpr int kLagrangeHexahedron = 72;
  if (dimension == 2) return degree == 1 ? kQuadrilateral : kLagrangeQuadrilateral;
  return degree == 1 ? kHexahedron : kLagrangeHexahedron;
}

std::vector<Index> vtk_node_offsets(const NodeLattice& lattice, int degree) {
  std::vector<Index> offsets(static_cast<std::size_t>(power(degree + 1, lattice.dimension())));
  const int k_end = lattice.dimension() == 3 ? degree : 0;
  for (int k = 0; k <= k_end; ++k) {
    for (int j = 0; j <= degree; ++j) {
      for (int i = 0; i <= degree; ++i) {
        const int v = lattice.dimension() == 3 ? hexahedron_node(i, j, k, degree)
                                               : quadrilateral_node(i, j, degree);
        offsets[v] = lattice.offset(i, j, k);
      }
    }
  }
  return offsets;
}

}  // namespace tessera
