// These functions turn expressions into fields.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "cases/expression/tree.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// A text that is not an expression; what() says why and where, as the end of a sentence.
class ExpressionError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The variables of a text: x, y and, in 3D, z, then t if its case has a time, then u, the
/// solution, if its case may be non-linear in the text.
enum class Variables { position, position_and_time, position_and_u, position_time_and_u };

/// What a text says.
struct Expression {
  ExpressionTree tree;
  /// Set if t does not occur.
  ScalarField field;
};

/// Lets muParser check a text, and reads it. The most recent expressions are kept, so that asking
/// for one again costs next to nothing.
/// @throws ExpressionError
std::shared_ptr<const Expression> read_expression(const std::string& text, int dimension,
                                                  Variables variables);

/// The field of an expression without t.
ScalarField field_of(ExpressionTree tree);

/// The function that a text in muParser's language stands for, in the variables x, y and, in 3D, z,
/// with the constant pi. Where no variable is used the field is constant. If the text is written as
/// a product of functions of one coordinate each, the field has factors.
///
/// Where it is not constant the field has a program. Its values are muParser's to a few units in
/// the last place, but for asinh, of whose value muParser loses digits where the argument is
/// negative, and for && and || between two numbers, of which muParser takes the whole parts first.
/// Values may be NaN or infinite. The most recent fields are kept, as by read_expression().
/// @throws ExpressionError
ScalarField parse_expression(const std::string& text, int dimension);

}  // namespace tessera
