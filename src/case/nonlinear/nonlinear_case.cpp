// This file says what [nonlinear] means for expressions and decisions.
#include "src/case/nonlinear/nonlinear_case.hpp"

#include <fmt/format.h>

#include "cases/time_field.hpp"

namespace tessera {
namespace {

bool depends_on_u(const CaseParameters& parameters, const std::string& text) {
  return parameters.nonlinear &&
         TimeField(text, parameters.mesh.dimension, Variables::position_time_and_u).depends_on_u();
}

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

void require_linear(const LoadedCase& loaded, std::string_view command) {
  if (!is_nonlinear(loaded.parameters)) return;
  throw InputError({loaded.findings.diagnostic(
      "nonlinear",
      fmt::format(
          "{} takes linear problems only so far: coefficient and source may not depend on u",
          command))});
}

}  // namespace tessera
