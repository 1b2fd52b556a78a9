// This file combines fields, and knows what combinations are made of.
#include "mesh/field/field_terms.hpp"

#include <cmath>
#include <utility>

#include "mesh/field/program_field.hpp"

namespace tessera {
namespace {

// What ScalarField::evaluate is, of fields that are combinations: by these types they are known.

struct Derivative {
  std::shared_ptr<const FieldProgram> program;
  Operand by;
  bool has_u;

  void operator()(const PointBlock& points, double* values) const {
    if (has_u) require_u(points);
    evaluate_derivative(*program, by, points, values);
  }
};

struct Sum {
  ScalarField a;
  ScalarField b;
  double factor;

  void operator()(const PointBlock& points, double* values) const {
    std::vector<double> others(points.n);
    a.evaluate(points, values);
    b.evaluate(points, others.data());
    for (std::size_t i = 0; i < points.n; ++i) values[i] += factor * others[i];
  }
};

struct Absolute {
  ScalarField field;

  void operator()(const PointBlock& points, double* values) const {
    field.evaluate(points, values);
    for (std::size_t i = 0; i < points.n; ++i) values[i] = std::abs(values[i]);
  }
};

std::shared_ptr<const FieldProgram> number_program(double value) {
  return std::make_shared<const FieldProgram>(
      FieldProgram{{{Operation::push, Operand::constant, value}}, 1});
}

// Appends factor times the field; false if it is not a sum.
bool append(const ScalarField& field, double factor, std::vector<FieldTerm>& terms) {
  if (field.constant) {
    terms.push_back({factor, number_program(*field.constant), TermKind::value});
    return true;
  }
  if (field.program != nullptr) {
    terms.push_back({factor, field.program, TermKind::value});
    return true;
  }
  if (const auto* derivative = field.evaluate.target<Derivative>()) {
    if (derivative->by != Operand::u) return false;
    terms.push_back({factor, derivative->program, TermKind::derivative_in_u});
    return true;
  }
  const auto* sum = field.evaluate.target<Sum>();
  return sum != nullptr && append(sum->a, factor, terms) &&
         append(sum->b, factor * sum->factor, terms);
}

}  // namespace

std::optional<FieldTerms> terms_of(const ScalarField& field) {
  FieldTerms found;
  const auto* absolute = field.evaluate.target<Absolute>();
  if (absolute != nullptr) found.magnitude = Magnitude::yes;
  if (!append(absolute != nullptr ? absolute->field : field, 1.0, found.terms)) return std::nullopt;
  return found;
}

ScalarField add_fields(const ScalarField& a, const ScalarField& b, double factor) {
  if (a.constant && b.constant) return constant_field(*a.constant + factor * *b.constant);
  return {Sum{a, b, factor}, std::nullopt, nullptr, nullptr, a.depends_on_u || b.depends_on_u};
}

ScalarField magnitude_of(const ScalarField& field) {
  if (field.constant) return constant_field(std::abs(*field.constant));
  return {Absolute{field}, std::nullopt, nullptr, nullptr, field.depends_on_u};
}

ScalarField derivative_field(FieldProgram program, Operand by) {
  const bool has_u = depends_on_u(program);
  return {Derivative{std::make_shared<const FieldProgram>(std::move(program)), by, has_u},
          std::nullopt, nullptr, nullptr, has_u};
}

}  // namespace tessera
