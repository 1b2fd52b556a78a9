// This file says what [nonlinear] means for expressions and decisions.
#include "src/case/nonlinear/nonlinear_case.hpp"

#include <fmt/format.h>

#include "cases/problem/time_field.hpp"

namespace tessera {
namespace {

bool depends_on_u(const CaseParameters& parameters, const std::string& text) {
  return parameters.nonlinear &&
         TimeField(text, parameters.mesh.dimension, Variables::position_time_and_u).depends_on_u();
}

bool is_newton(const CaseParameters& parameters) {
  return parameters.nonlinear && parameters.nonlinear->method == NonlinearMethod::newton;
}

bool needs_symmetry(SolverMethod method) {
  return method != SolverMethod::flexible_gmres && method != SolverMethod::bicgstab;
}

constexpr char kMethodKey[] = "solver.method";

}  // namespace

Variables case_variables(std::string_view key, const CaseParameters& parameters) {
  const bool may_have_u =
      parameters.nonlinear && (key == "problem.coefficient" || key == "problem.source");
  if (parameters.time) {
    return may_have_u ? Variables::position_time_and_u : Variables::position_and_time;
  }
  return may_have_u ? Variables::position_and_u : Variables::position;
}

bool is_nonlinear(const CaseParameters& parameters) {
  return depends_on_u(parameters, parameters.problem.coefficient) ||
         depends_on_u(parameters, parameters.problem.source);
}

StateKind case_state(const CaseParameters& parameters) {
  const bool has_state = depends_on_u(parameters, parameters.problem.coefficient) ||
                         (depends_on_u(parameters, parameters.problem.source) &&
                          parameters.nonlinear->method == NonlinearMethod::newton);
  return has_state ? StateKind::given : StateKind::none;
}

bool has_drift(const CaseParameters& parameters) {
  return is_newton(parameters) && depends_on_u(parameters, parameters.problem.coefficient);
}

bool has_derivative_of_source(const CaseParameters& parameters) {
  return is_newton(parameters) && depends_on_u(parameters, parameters.problem.source);
}

bool has_definite_operator(const CaseParameters& parameters) {
  const SolverParameters& solver = parameters.solver;
  // Cycles in another precision have operators of their own on all levels.
  const bool asks_for_operator = solver.preconditioner != kNoPreconditioner &&
                                 (solver.preconditioner != kMultigrid ||
                                  solver.multigrid.precision == Precision::double_precision);
  return asks_for_operator && has_derivative_of_source(parameters);
}

int nonlinear_vectors(const CaseParameters& parameters) {
  if (!is_nonlinear(parameters)) return 0;
  const int state = case_state(parameters) == StateKind::given ? 1 : 0;
  // u of a stage, what the residual lifts, and the correction.
  if (parameters.time) return state + 3;
  const int depth = parameters.nonlinear->acceleration;
  if (is_newton(parameters)) return state + 7;
  return state + (depth > 0 ? 8 + 3 * depth : 4);
}

std::optional<ChosenValue> resolve_nonlinear_method(CaseParameters& parameters) {
  if (!has_drift(parameters) || !needs_symmetry(parameters.solver.method)) return std::nullopt;
  parameters.solver.method = SolverMethod::flexible_gmres;
  return ChosenValue{kMethodKey, std::string(name_of(parameters.solver.method)),
                     "newton's matrix is not symmetric where the coefficient depends on u"};
}

void check_nonlinear_method(const CaseParameters& parameters, Findings& findings) {
  for (const char* key :
       {kMethodKey, "nonlinear.method", "problem.coefficient", "mesh.dimension"}) {
    if (findings.has_error(key)) return;
  }
  if (!findings.is_written(kMethodKey) || !needs_symmetry(parameters.solver.method) ||
      !has_drift(parameters)) {
    return;
  }
  findings.report(kMethodKey,
                  "needs a symmetric matrix, and newton has none where the coefficient depends on "
                  "u; allowed: \"flexible-gmres\", \"bicgstab\", or nonlinear.method = \"picard\"");
}

void check_nonlinear_preconditioner(const CaseParameters& parameters, Findings& findings) {
  const char* key = "solver.preconditioner";
  for (const char* other :
       {key, "nonlinear.method", "problem.coefficient", "problem.source", "mesh.dimension"}) {
    if (findings.has_error(other)) return;
  }
  if (parameters.solver.preconditioner != kFastDiagonalization ||
      case_state(parameters) == StateKind::none) {
    return;
  }
  findings.report(key,
                  "takes no coefficient or reaction that depends on u, which the systems of this "
                  "non-linear case have; use \"multigrid\"");
}

void require_determined(const CaseParameters& parameters, const BilinearForm& form) {
  if (!is_pure_neumann(form)) return;
  if (!depends_on_u(parameters, parameters.problem.source)) {
    throw UndeterminedSolution("problem.coefficient",
                               "with Neumann faces only, and a source that does not depend on u, a "
                               "coefficient that depends on u leaves the solution open: give a "
                               "Dirichlet or Robin face, or a reaction");
  }
  if (!is_newton(parameters)) {
    throw UndeterminedSolution("nonlinear.method",
                               "with Neumann faces only the matrix of picard is singular: use "
                               "\"newton\", or give a Dirichlet or Robin face, or a reaction");
  }
}

}  // namespace tessera
