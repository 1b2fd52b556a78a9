// An AxisMatrix acts along one axis of a lattice and has short rows, like a factor of a transfer.
#pragma once

#include <array>
#include <vector>

#include "mesh/box_mesh.hpp"
#include "mesh/element/basis_1d.hpp"
#include "mesh/index_box.hpp"
#include "mesh/lanes/host_array.hpp"

namespace tessera {

/// A matrix that acts along one axis of a lattice and has short rows:
/// (A u)_r = sum_k entries[r][k] u_{first[r] + k}, 0 <= k < width.
struct AxisMatrix {
  Index rows = 0;
  Index columns = 0;
  int width = 0;
  std::vector<Index> first;     // [rows], first[r] + width <= columns
  std::vector<double> entries;  // [rows][width], k fastest
};

/// The transpose, whose rows are as short as its entries allow.
AxisMatrix transpose(const AxisMatrix& matrix);

/// Whether the matrix is the identity.
bool is_identity(const AxisMatrix& matrix);

/// Continuous piecewise polynomials along axis d of a box mesh, given by their values at the
/// lattice's nodes.
struct AxisSpace {
  const BoxMesh& mesh;
  int d;
  /// Nodes of a cell on [0, 1].
  const std::vector<double>& nodes;
};

/// [nodes of `at`][nodes of `from`]: the values of a function of `from` at the nodes of `at`. Its
/// entries are exact zeros and ones where nodes coincide.
AxisMatrix evaluation_matrix(const AxisSpace& from, const AxisSpace& at);

/// Whether a product replaces its output or adds to it.
enum class LineStore { assign, add };

/// out = (or +=) A in along axis d of boxes without gaps, of which `box` is that of `in`; parallel.
/// @param entries the matrix's entries in the type of the values
template <class T>
void multiply_along(const AxisMatrix& matrix, const std::vector<T>& entries, const IndexBox& box,
                    int d, const T* in, T* out, LineStore store);

/// (A_x x A_y x A_z) in, from one lattice of nodes to another: the product along one axis after the
/// other, z (2D: y) first. @param matrices one an axis; extents of 1 are beyond the last one
HostArray<double> multiply_along_all(const std::array<AxisMatrix, 3>& matrices,
                                     const IndexTriple& from, const IndexTriple& to,
                                     const double* in);

}  // namespace tessera
