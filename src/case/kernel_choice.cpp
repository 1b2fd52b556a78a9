// This file chooses the kernel of a case that leaves the choice to the program.
#include "src/case/kernel_choice.hpp"

#include "cases/expression.hpp"

namespace tessera {
namespace {

constexpr char kKronecker[] = "kronecker";

ScalarField coefficient_of(const CaseParameters& parameters) {
  return parse_expression(parameters.problem.coefficient, parameters.mesh.dimension);
}

}  // namespace

std::string why_unsuitable(const std::string& kernel, const CaseParameters& parameters) {
  if (kernel != kKronecker) return "";
  if (!parameters.mesh.map.empty()) return "the mesh is mapped";
  if (is_separable(coefficient_of(parameters))) return "";
  return "the coefficient is no product of functions of one coordinate";
}

std::string choose_kernel(CaseParameters& parameters) {
  OperatorParameters& operation = parameters.operation;
  if (operation.kernel != kAutoKernel) return "";
  const std::string reason = why_unsuitable(kKronecker, parameters);
  if (!reason.empty()) {
    operation.kernel = "tensor";
    return "auto: " + reason;
  }
  operation.kernel = kKronecker;
  operation.scatter = kNoScatter;
  return coefficient_of(parameters).constant ? "auto: axis-aligned mesh, constant coefficient"
                                             : "auto: axis-aligned mesh, separable coefficient";
}

}  // namespace tessera
