// These functions evaluate coefficient and reaction at quadrature points for the GPU.
#pragma once

#include <vector>

#include "operators/form/bilinear_form.hpp"

namespace tessera {

/// k at the quadrature points of `count` cells from number `first` on, [cell][q], q x fastest; in
/// parallel. @throws BadFieldValue naming the first cell's point where it is not positive and
/// finite
std::vector<double> coefficient_at_points(const BilinearForm& form, Index first, Index count);

/// The same of the reaction, which may have the form's sign. Both at the form's state.
std::vector<double> reaction_at_points(const BilinearForm& form, Index first, Index count);

/// @throws BadFieldValue naming the place if a value is not allowed
void check_coefficient(double k, const Point& where);
void check_reaction(double c, ReactionSign sign, const Point& where);

/// Throws what is wrong with the Jacobian of this cell. @throws InvertedCell
[[noreturn]] void report_inverted_cell(const BilinearForm& form, Index cell);

}  // namespace tessera
