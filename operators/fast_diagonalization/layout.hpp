// These types and functions say how fast diagonalization lays out axes and scratch memory.
#pragma once

#include <array>

#include "operators/fast_diagonalization/axis_modes.hpp"

namespace tessera {

/// What the axes are to the sweeps of fast diagonalization: planes of x and the middle axis follow
/// each other along the outer one. In 2D y is the outer axis, and the middle one has one node.
template <class Axis>
struct AxisRoles {
  Axis x;
  Axis middle;
  Axis outer;
};

/// The modes by role. @throws as make_axis_modes()
AxisRoles<AxisModes> axis_roles(const NearestSeparable& separable);

/// Nodal values to what multiplies the modes, or back.
enum class Direction { to_modes, to_nodes };

/// Free nodes by role: x, middle, outer.
IndexTriple free_nodes_by_role(const NodeLattice& lattice, FaceSet dirichlet);

/// Least and largest sum of eigenvalues, without the constant of a pure Neumann problem.
std::array<double, 2> eigenvalue_range_of(const AxisRoles<AxisModes>& modes);

/// Rows and columns of matrices on the GPU are padded to 64 bytes.
constexpr Index padded_rows(Index n, Index value_bytes) {
  const Index values = 64 / value_bytes;
  return (n + values - 1) / values * values;
}

/// Entries of a row along x of the GPU's scratch: each part is padded by itself, and there may be
/// two.
constexpr Index padded_row(Index n, Index value_bytes) {
  return padded_rows(n - n / 2, value_bytes) + padded_rows(n / 2, value_bytes);
}

/// Memory that cuBLAS may use in a product: what it recommends for Hopper.
inline constexpr Index kCublasWorkspace = Index{32} << 20;

/// Bytes of the GPU's operator for free nodes by role.
Index device_fast_diagonalization_bytes(const IndexTriple& free,
                                        const std::array<AxisSymmetry, 3>& symmetry,
                                        Index value_bytes);

}  // namespace tessera
