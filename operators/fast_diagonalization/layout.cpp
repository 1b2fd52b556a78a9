// This file assigns the axes of the box to the sweeps of fast diagonalization.
#include "operators/fast_diagonalization/layout.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mesh/saturated.hpp"
#include "operators/kronecker/factors/factors.hpp"

namespace tessera {

AxisRoles<AxisModes> axis_roles(const NearestSeparable& separable) {
  std::array<AxisModes, 3> modes = make_axis_modes(separable);
  if (separable.dimension == 2) std::swap(modes[1], modes[2]);
  return {std::move(modes[0]), std::move(modes[1]), std::move(modes[2])};
}

IndexTriple free_nodes_by_role(const NodeLattice& lattice, FaceSet dirichlet) {
  IndexTriple free;
  for (int d = 0; d < 3; ++d)
    free[d] = d < lattice.dimension() ? free_nodes(lattice, dirichlet, d) : 1;
  if (lattice.dimension() == 2) std::swap(free[1], free[2]);
  return free;
}

std::array<AxisSymmetry, 3> symmetry_by_role(const std::array<AxisSymmetry, 3>& of_axes,
                                             int dimension) {
  if (dimension == 3) return of_axes;
  return {of_axes[0], AxisSymmetry::none, of_axes[1]};
}

ShiftedEigenvalues::ShiftedEigenvalues(BilinearForm form, const NearestSeparable& separable,
                                       const AxisRoles<AxisModes>& modes)
    : form_(std::move(form)),
      without_reaction_{modes.x.eigenvalues, modes.middle.eigenvalues, modes.outer.eigenvalues},
      along_x_(modes.x.eigenvalues) {
  shift(separable.reaction);
}

void ShiftedEigenvalues::shift(double reaction) {
  for (std::size_t i = 0; i < along_x_.size(); ++i) {
    along_x_[i] = without_reaction_.x[i] + reaction;
  }
}

Updated ShiftedEigenvalues::update(const BilinearForm& form) {
  if (!differ_in_number_only(form_, form) || !why_not_kronecker(form).empty()) return Updated::no;
  shift(kronecker_reaction(form));
  form_ = form;
  return Updated::yes;
}

std::array<double, 2> ShiftedEigenvalues::range() const {
  double least = 0.0;
  double largest = 0.0;
  double step = INFINITY;  // from the least sum to the next
  for (const std::vector<double>* axis :
       {&along_x_, &without_reaction_.middle, &without_reaction_.outer}) {
    std::vector<double> sorted = *axis;
    if (sorted.empty()) return {0.0, 0.0};
    std::sort(sorted.begin(), sorted.end());
    least += sorted.front();
    largest += sorted.back();
    if (sorted.size() > 1) step = std::min(step, sorted[1] - sorted[0]);
  }
  return {least > 0.0 ? least : step, largest};
}

Index device_modes_values(const IndexTriple& free, const std::array<AxisSymmetry, 3>& symmetry,
                          Index value_bytes) {
  Saturated values = 0;
  for (int role = 0; role < 3; ++role) {
    for (const Index n : mode_counts(free[role], symmetry[role])) {
      const Index rows = padded_rows(n, value_bytes);
      values += Saturated(rows) * rows;
    }
    values += padded_row(free[role], value_bytes);
  }
  return values;
}

Index device_fast_diagonalization_bytes(const IndexTriple& free,
                                        const std::array<AxisSymmetry, 3>& symmetry,
                                        Index value_bytes) {
  Saturated values = device_modes_values(free, symmetry, value_bytes);
  values += Saturated(padded_row(free[0], value_bytes)) * free[1] * free[2] * 2;
  return values * value_bytes;
}

}  // namespace tessera
