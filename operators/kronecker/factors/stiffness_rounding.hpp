// These functions round the 1D stiffness matrix and keep the constants in its null space.
#pragma once

#include "operators/kronecker/factors/axis_factors.hpp"

namespace tessera {

/// The rows of the stiffness of an axis, where no node is constrained and ends have no terms, in
/// numbers that a type with so many binary digits has: the rows sum to 0 exactly, so that constants
/// are still in its null space. Rounded one by one, entries would leave a reaction term of one
/// sign.
///
/// Entries of a cell are multiples of a power of 2, coarse enough for the sums of two cells to be
/// such numbers as well unless one has entries several times as large as the other, and each
/// diagonal entry is what makes the sum of its row right.
std::vector<double> rounded_stiffness(const AxisFactors& axis, int digits);

/// The same for the stiffness of cells, axis.cell_stiffness. Where cells are alike, theirs is its
/// own mirror image and stays so.
std::vector<double> rounded_cell_stiffness(const AxisFactors& axis, int digits);

}  // namespace tessera
