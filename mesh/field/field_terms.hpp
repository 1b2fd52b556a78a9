// FieldTerms are a field as a sum of programs and their derivatives.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mesh/field/field_program.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// What a program stands for: its value, or its exact derivative in u.
enum class TermKind { value, derivative_in_u };

/// factor times what the program stands for.
struct FieldTerm {
  double factor = 1.0;
  std::shared_ptr<const FieldProgram> program;
  TermKind kind = TermKind::value;
};

/// Whether a field is a sum or the magnitude of one.
enum class Magnitude { no, yes };

/// The sum of the terms, or its magnitude: what kernels evaluate that cannot call functions of the
/// host.
struct FieldTerms {
  std::vector<FieldTerm> terms;
  Magnitude magnitude = Magnitude::no;
};

/// The field as terms: constants, programs, their derivatives in u, and what add_fields() and
/// magnitude_of() make of these. Nothing if it is not known as such.
std::optional<FieldTerms> terms_of(const ScalarField& field);

/// a + factor b. @throws what a and b do where they are evaluated
ScalarField add_fields(const ScalarField& a, const ScalarField& b, double factor);

/// |field|.
ScalarField magnitude_of(const ScalarField& field);

/// The exact derivative of a program in t or u. Where it depends on u, evaluating it without u
/// throws std::invalid_argument.
ScalarField derivative_field(FieldProgram program, Operand by);

}  // namespace tessera
