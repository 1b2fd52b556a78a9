// This function turns an expression into a field.
#pragma once

#include <stdexcept>
#include <string>

#include "mesh/scalar_field.hpp"

namespace tessera {

/// A text that is not an expression; what() says why and where, as the end of a sentence.
class ExpressionError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The function that a text in muParser's language stands for, in the variables x, y and, in 3D, z,
/// with the constant pi. Where no variable is used the field is constant. If the text is written as
/// a product of functions of one coordinate each, the field has factors.
///
/// Evaluation is safe from several threads: each borrows a parser of its own. A point costs about
/// 40 ns for a product of three sines. Values may be NaN or infinite. The most recent fields are
/// kept, so that asking for one again costs next to nothing.
/// @throws ExpressionError
ScalarField parse_expression(const std::string& text, int dimension);

}  // namespace tessera
