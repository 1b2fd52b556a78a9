// What a case's table [nonlinear] means.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "cases/expression/expression.hpp"
#include "operators/form/form_shape.hpp"
#include "src/case/setup.hpp"
#include "src/case/strategy.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The variables of the expression of a key of [problem] or [boundary].
Variables case_variables(std::string_view key, const CaseParameters& parameters);

/// Whether the coefficient or the source of the case depends on u; they are checked expressions.
bool is_nonlinear(const CaseParameters& parameters);

/// Whether the forms that the case is solved with depend on u: that of a Jacobian has the
/// coefficient and the derivative of the source, that of Picard's iteration the coefficient.
StateKind case_state(const CaseParameters& parameters);

/// Whether the Jacobian of the case is not symmetric: newton solves it, and the coefficient depends
/// on u.
bool has_drift(const CaseParameters& parameters);

/// Whether newton solves the case and its source depends on u: the reaction of the Jacobian may
/// then be negative, and its preconditioner is that of a form in which it is not.
bool has_derivative_of_source(const CaseParameters& parameters);

/// Whether that form's operator is made beside that of the Jacobian.
bool has_definite_operator(const CaseParameters& parameters);

/// Vectors that the iteration of the case holds beside u and those of the linear solver, with the
/// state of the forms; 0 for linear cases.
int nonlinear_vectors(const CaseParameters& parameters);

/// Replaces a method that needs a symmetric matrix by flexible GMRES where the case has none;
/// nothing where there is nothing to replace.
std::optional<ChosenValue> resolve_nonlinear_method(CaseParameters& parameters);

/// Reports such a method where the case names it.
void check_nonlinear_method(const CaseParameters& parameters, Findings& findings);

/// Reports a preconditioner that takes no form that depends on u.
void check_nonlinear_preconditioner(const CaseParameters& parameters, Findings& findings);

/// The problem leaves its solution open; `key` is the one to blame.
class UndeterminedSolution : public std::runtime_error {
 public:
  UndeterminedSolution(std::string key, const std::string& message)
      : std::runtime_error(message), key_(std::move(key)) {}
  const std::string& key() const { return key_; }

 private:
  std::string key_;
};

/// @param form the stiffness_form() of the non-linear case without time
/// @throws UndeterminedSolution if it is pure Neumann and the source does not depend on u, or
///         picard solves it, whose matrix is singular
void require_determined(const CaseParameters& parameters, const BilinearForm& form);

}  // namespace tessera
