// Decisions on preconditioners by the case's shape and method.
#include "src/case/preconditioner_choice.hpp"

#include <fmt/format.h>

#include "postprocess/files/human_units.hpp"
#include "src/case/memory/preconditioner_memory.hpp"
#include "src/case/shape.hpp"
#include "src/case/time/time_case.hpp"
#include "src/parameters/case_checks.hpp"

namespace tessera {
namespace {

// Where the eigenvectors of the axes take longer, multigrid has solved before they are there.
constexpr double kMaxAxisSeconds = 1.0;

}  // namespace

std::string why_not_inverse(const CaseParameters& parameters) {
  if (parameters.solver.initial == kFullMultigrid) return "the start is by full multigrid";
  const FormShape shape = case_shape(parameters);
  if (shape.mesh_kind == MeshKind::mapped) return "the mesh is mapped";
  if (shape.coefficient == CoefficientKind::general) {
    return "the coefficient is no product of functions of one coordinate";
  }
  if (shape.reaction == ReactionKind::varying) {
    return parameters.time ? "the capacity or the reaction varies" : "the reaction varies";
  }
  if (shape.reaction != ReactionKind::none && shape.coefficient != CoefficientKind::constant) {
    return fmt::format("there is a {} beside a coefficient that varies",
                       parameters.time ? "capacity" : "reaction");
  }
  if (has_varying_robin_face(parameters)) {
    return "alpha or the coefficient varies on a Robin face";
  }
  const double seconds = planned_axis_work(parameters).seconds;
  if (seconds <= kMaxAxisSeconds) return "";
  return fmt::format("the eigenvectors of fast diagonalization take about {}",
                     human_seconds(seconds));
}

std::string why_not_multigrid(const CaseParameters& parameters) {
  const SolverParameters& solver = parameters.solver;
  if (solver.initial == kFullMultigrid) return "";
  if (!bears_single_precision_cycles(parameters)) {
    return "the method pipelined-cg does not bear cycles in single precision";
  }
  if (solver.multigrid.smoother != SmootherKind::block_asynchronous_jacobi) return "";
  if (parameters.run.deterministic) return "the asynchronous smoother has other bits in every run";
  return allows_another_map(solver.method)
             ? ""
             : fmt::format("the asynchronous smoother is not for the method {}",
                           name_of(solver.method));
}

}  // namespace tessera
