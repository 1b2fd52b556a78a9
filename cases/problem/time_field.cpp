// This file evaluates expressions at a time, and their derivatives in it.
#include "cases/problem/time_field.hpp"

#include <utility>

#include "cases/expression/expression.hpp"
#include "mesh/field/field_terms.hpp"
#include "mesh/field/program_field.hpp"

namespace tessera {

TimeField::TimeField(const std::string& text, int dimension, Variables variables)
    : expression_(read_expression(text, dimension, variables)) {}

bool TimeField::depends_on_time() const { return expression_->tree.depends_on_time(); }
bool TimeField::depends_on_u() const { return expression_->tree.depends_on_u(); }

ScalarField TimeField::at(double t) const {
  return depends_on_time() ? field_of(expression_->tree.at(t)) : expression_->field;
}

ScalarField TimeField::rate_at(double t) const {
  if (!depends_on_time()) return constant_field(0.0);
  const ExpressionTree& tree = expression_->tree;
  FieldProgram program = tree.program(tree.root());
  program.t = t;
  if (!tree.depends_on_place()) {
    constexpr double kAnywhere = 0.0;
    double rate = 0.0;
    evaluate_derivative(program, Operand::t, {1, &kAnywhere, &kAnywhere, &kAnywhere}, &rate);
    return constant_field(rate);
  }
  return derivative_field(std::move(program), Operand::t);
}

}  // namespace tessera
