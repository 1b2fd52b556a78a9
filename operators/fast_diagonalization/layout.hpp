// These types and functions say how fast diagonalization lays out axes and scratch memory.
#pragma once

#include <array>
#include <vector>

#include "operators/fast_diagonalization/axis_modes.hpp"
#include "operators/form/updatable.hpp"

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

/// The symmetry of axes by role.
std::array<AxisSymmetry, 3> symmetry_by_role(const std::array<AxisSymmetry, 3>& of_axes,
                                             int dimension);

/// The eigenvalues of a separable operator: those along x have its reaction added, and so can be
/// those of another one.
class ShiftedEigenvalues {
 public:
  ShiftedEigenvalues(BilinearForm form, const NearestSeparable& separable,
                     const AxisRoles<AxisModes>& modes);

  /// [mode]
  const std::vector<double>& along_x() const { return along_x_; }
  /// Least and largest sum of eigenvalues, without the constant of a pure Neumann problem.
  std::array<double, 2> range() const;
  /// Takes another number for reaction.
  Updated update(const BilinearForm& form);

 private:
  void shift(double reaction);

  BilinearForm form_;
  AxisRoles<std::vector<double>> without_reaction_;
  std::vector<double> along_x_;
};

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

/// Values that the modes of all axes and their eigenvalues have on the GPU, for free nodes and
/// symmetry by role.
Index device_modes_values(const IndexTriple& free, const std::array<AxisSymmetry, 3>& symmetry,
                          Index value_bytes);

/// Bytes of the GPU's operator for free nodes by role.
Index device_fast_diagonalization_bytes(const IndexTriple& free,
                                        const std::array<AxisSymmetry, 3>& symmetry,
                                        Index value_bytes);

}  // namespace tessera
