// A TimeField is a function of position and time, and of the solution.
#pragma once

#include <memory>
#include <string>

#include "cases/expression/expression.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// An expression in x, y, z and t, and maybe u: at each time a field.
class TimeField {
 public:
  /// @param text as parse_expression() takes it, in these variables
  /// @throws ExpressionError
  TimeField(const std::string& text, int dimension,
            Variables variables = Variables::position_and_time);

  bool depends_on_time() const;
  bool depends_on_u() const;

  /// The field at a time, as parse_expression() makes it of the text with that number for t.
  /// Whether it is constant, and whether it has factors, is the same at all times. Costs some
  /// microseconds for each ten operations of the text.
  ScalarField at(double t) const;

  /// The exact derivative in t of the field at a time; constant where that is constant, and the
  /// constant 0 where the text has no t. It has neither factors nor a program. Where the derivative
  /// jumps it is that of one side.
  ScalarField rate_at(double t) const;

 private:
  std::shared_ptr<const Expression> expression_;
};

}  // namespace tessera
