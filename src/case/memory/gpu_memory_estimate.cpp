// This file adds up the memory of the GPU in a run, phase after phase.
#include <algorithm>
#include <utility>
#include <vector>

#include "mesh/field/field_program.hpp"
#include "operators/cells/block_scratch.hpp"
#include "operators/cells/fields/cell_integrator.hpp"
#include "operators/load/device_load.hpp"
#include "postprocess/device_error_norms.hpp"
#include "src/case/memory/case_sizes.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/setup.hpp"
#include "src/case/time/time_case.hpp"

namespace tessera {
namespace {

// Partial sums of reductions, 1D matrices, lists of faces on the GPU: up to 0.7 MiB were seen.
constexpr Index kSmallDeviceBytes = Index{2} << 20;

// The largest stack of the programs that are evaluated with the solution.
int deepest_program(const CaseParameters& parameters) {
  int depth = 0;
  const auto add = [&](const std::string& text) {
    const ScalarField field = typical_field(parameters, text);
    if (field.program != nullptr) depth = std::max(depth, field.program->depth);
  };
  add(parameters.problem.coefficient);
  if (parameters.problem.exact) add(*parameters.problem.exact);
  return depth;
}

// Whether Dirichlet values other than 0 are lifted.
bool lifts_values(const CaseParameters& parameters) {
  for (int face = 0; face < face_count(parameters.mesh.dimension); ++face) {
    const BoundaryParameters& condition = parameters.boundary[face];
    if (condition.type == BoundaryType::dirichlet &&
        !is_zero(typical_field(parameters, condition.value))) {
      return true;
    }
  }
  return false;
}

// Bytes of the cells that the load is integrated over at a time.
Index load_scratch_bytes(const CaseParameters& parameters, const CaseSizes& n) {
  const int dimension = parameters.mesh.dimension;
  return block_scratch_bytes(lifts_values(parameters)
                                 ? integral_cell_bytes(dimension, n.shape.points, n.is_mapped())
                                 : load_cell_bytes(dimension, n.shape.points, n.is_mapped()));
}

}  // namespace

MemoryEstimate estimate_gpu_memory(const CaseParameters& parameters, const StrategyName& strategy) {
  const CaseSizes n(parameters, strategy);
  const MemoryPart libraries{"CUDA libraries", kCudaLibraryBytes};
  const MemoryPart small{"sums and tables", kSmallDeviceBytes};
  const MemoryPart operation = n.operator_part(n.operation.held);
  const MemoryPart preconditioner{kPreconditionerPart, n.preconditioner.held};
  // Steps count their right-hand sides themselves.
  const MemoryPart system{"solution and right-hand side",
                          parameters.time ? n.vectors(1) : n.solver_vectors(2)};
  const MemoryPart load{"right-hand side", n.vectors(1)};
  const MemoryPart positions{"node positions",
                             n.is_mapped() ? n.vectors(parameters.mesh.dimension) : 0};
  // An operator that reads them counts them.
  const MemoryPart others_positions{
      positions.name, strategy.factors == FactorStorage::on_the_fly ? 0 : positions.bytes};
  MemoryEstimate estimate;
  const MemoryPart cells_of_load{"cells of the load", load_scratch_bytes(parameters, n)};
  // Lifted values are there with the load.
  estimate.phases.push_back({"assembling the load on the GPU",
                             {libraries,
                              small,
                              positions,
                              {"right-hand side", n.vectors(lifts_values(parameters) ? 2 : 1)},
                              cells_of_load}});
  estimate.phases.push_back(
      {"making the operator on the GPU",
       {libraries, small, load, others_positions, n.operator_part(n.operation.peak)}});
  const MemoryPart nonlinear = n.nonlinear_part();
  if (is_nonlinear(parameters)) {
    estimate.phases.push_back(
        {"making the Jacobian on the GPU",
         {libraries, small, system, others_positions, operation, nonlinear, n.update_part()}});
  }
  if (n.preconditioner.peak > 0) {
    estimate.phases.push_back({"making the preconditioner on the GPU",
                               {libraries,
                                small,
                                load,
                                others_positions,
                                operation,
                                nonlinear,
                                {kPreconditionerPart, n.preconditioner.peak}}});
  }
  if (n.start > 0) {
    estimate.phases.push_back({"starting by full multigrid on the GPU",
                               {libraries,
                                small,
                                others_positions,
                                operation,
                                preconditioner,
                                system,
                                {"full multigrid", n.start}}});
  }
  if (parameters.time) {
    estimate.phases.push_back({"making the mass matrix on the GPU",
                               {libraries, small, others_positions, operation, n.mass().peak}});
  }
  const MemoryPart steps = n.steps_part();
  if (n.makes_steps_once()) {
    // Its preconditioner and solver come after it.
    estimate.phases.push_back(
        {"making the operator of steps on the GPU",
         {libraries, small, others_positions, n.operator_part(n.operation.peak), n.form_part(),
          n.mass().held, system, steps}});
  }
  std::vector<MemoryPart> held = {operation,     n.form_part(), nonlinear,       preconditioner,
                                  n.mass().held, system,        n.method_part(), steps};
  // Outputs come between steps.
  const MemoryPart stepping{"held for the next step",
                            parameters.time ? MemoryPhase{"", held}.bytes() : Index{0}};
  held.insert(held.begin(), {libraries, small, others_positions, n.update_part()});
  // Between steps.
  if (parameters.time) held.push_back(cells_of_load);
  estimate.phases.push_back({"solving on the GPU", std::move(held)});
  estimate.phases.push_back(
      {"evaluating the solution on the GPU",
       {libraries,
        small,
        stepping,
        {"solution and geometry", device_error_norms_bytes(n.mesh, n.lattice, n.is_mapped(),
                                                           deepest_program(parameters))}}});
  return estimate;
}

}  // namespace tessera
