// The strategy stencil is the assembled matrix of degree 1 by diagonals, without indices.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "mesh/node_lattice.hpp"
#include "operators/form/bilinear_form.hpp"
#include "operators/form/form_shape.hpp"
#include "operators/stencil/layout.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// The assembled matrix of degree 1 as a stencil without indices. On a lattice of degree 1 a node
/// is coupled to the 3^d nodes around it, and the matrix is symmetric, so that the diagonal a_0 and
/// the couplings a_k[i] of node i to its later neighbors i + o_k are all of it:
///
///     y_i = a_0[i] x_i + sum_k a_k[i] x_{i + o_k} + sum_k a_k[i - o_k] x_{i - o_k}
///
/// with 13 neighbors in 3D, 4 in 2D (StencilNeighbors). Rows and columns of nodes on Dirichlet
/// faces have a_0 = 1 and no couplings, couplings out of the lattice are zero, Robin faces are in
/// the coefficients: one loop without cases. Least bytes a DoF: 16 values in 3D, 7 in 2D (128 and
/// 56 in double); 53 and 17 flops.
///
/// A thread applies bricks of rows plane after plane, few enough rows that the coefficients of
/// one plane are still in its L2 cache when the next plane's rows want them. The same bits for any
/// number of threads. The local matrices come from the tensor kernel.
/// @throws std::invalid_argument unless the degree is 1; InvertedCell, BadFieldValue,
/// std::bad_alloc
template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_stencil_operator(const BilinearForm& form);

/// What the operator is called. It has no scatter policy, since it writes each node once.
inline constexpr char kStencilName[] = "stencil";

/// Why there is no stencil for the form, in a user's words; empty if there is.
inline std::string why_not_stencil(const NodeLattice& lattice) {
  if (lattice.degree() != 1) {
    return "the kernel stencil is for degree 1, not for degree " + std::to_string(lattice.degree());
  }
  const Index longest = *std::max_element(lattice.extents().begin(), lattice.extents().end());
  if (longest <= kMaxStencilExtent) return "";
  return "the kernel stencil is for at most " + std::to_string(kMaxStencilExtent) +
         " nodes along an axis, and here are " + std::to_string(longest);
}

/// Bytes held by the operator on the host, and of its coefficients on either processor; and the
/// most on the host while it is made: the geometric factors as well.
Index stencil_bytes(const FormShape& shape);
Index stencil_peak_bytes(const FormShape& shape);

}  // namespace tessera
