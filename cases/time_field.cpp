// This file evaluates expressions at a time, and their derivatives in it.
#include "cases/time_field.hpp"

#include <utility>

#include "cases/expression.hpp"
#include "mesh/field/program_field.hpp"

namespace tessera {

TimeField::TimeField(const std::string& text, int dimension)
    : expression_(read_expression(text, dimension, Variables::position_and_time)) {}

bool TimeField::depends_on_time() const { return expression_->tree.depends_on_time(); }

ScalarField TimeField::at(double t) const {
  return depends_on_time() ? field_of(expression_->tree.at(t)) : expression_->field;
}

ScalarField TimeField::rate_at(double t) const {
  if (!depends_on_time()) return constant_field(0.0);
  const ExpressionTree& tree = expression_->tree;
  FieldProgram program = tree.program(tree.root());
  program.t = t;
  if (!tree.depends_on_position()) {
    constexpr double kAnywhere = 0.0;
    double rate = 0.0;
    evaluate_rate(program, {1, &kAnywhere, &kAnywhere, &kAnywhere}, &rate);
    return constant_field(rate);
  }
  return {[shared = std::make_shared<const FieldProgram>(std::move(program))](
              const PointBlock& points, double* values) { evaluate_rate(*shared, points, values); },
          std::nullopt};
}

}  // namespace tessera
