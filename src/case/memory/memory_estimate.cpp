// This file adds up the memory of the host in a run, phase after phase.
#include "src/case/memory/memory_estimate.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "mesh/saturated.hpp"
#include "operators/cells/fields/device_field.hpp"
#include "operators/tensor/gpu/field_at_points.hpp"
#include "postprocess/files/human_units.hpp"
#include "postprocess/picture/animation.hpp"
#include "postprocess/picture/solution_picture.hpp"
#include "postprocess/probes/point_location.hpp"
#include "postprocess/probes/probes.hpp"
#include "postprocess/vtk/vtu_writer.hpp"
#include "src/case/memory/case_sizes.hpp"
#include "src/case/memory/multigrid_memory.hpp"
#include "src/case/memory/preconditioner_memory.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/time/time_case.hpp"

namespace tessera {

Index MemoryPhase::bytes() const {
  Saturated sum = 0;
  for (const MemoryPart& part : parts) sum += part.bytes;
  return sum;
}

const MemoryPhase& MemoryEstimate::peak() const {
  return *std::max_element(
      phases.begin(), phases.end(),
      [](const MemoryPhase& a, const MemoryPhase& b) { return a.bytes() < b.bytes(); });
}

NotEnoughMemory::NotEnoughMemory(std::string_view whose, const MemoryPhase& peak, Index available)
    : std::runtime_error(fmt::format(
          "not enough {}: {} needs {}, and {} are available; fewer cells, another kernel or "
          "single precision need less (tessera check tells how much)",
          whose, peak.name, bytes_text(peak.bytes()), bytes_text(available))) {}

namespace {

// Of a field that the GPU cannot evaluate itself, which it gets from the host so many points at a
// time.
Index field_chunk_bytes(const CaseParameters& parameters, const FormShape& shape,
                        const StrategyName& strategy) {
  const auto is_from_host = [&](const std::string& text) {
    return !DeviceField::is_for_gpu(typical_field(parameters, text));
  };
  if (strategy.kernel == "kronecker" || (!is_from_host(parameters.problem.coefficient) &&
                                         !is_from_host(parameters.problem.reaction))) {
    return 0;
  }
  const Index points = Saturated(shape.mesh.cell_count()) * power(shape.points, shape.dimension());
  return std::min(points, kFieldPointsPerChunk) * static_cast<Index>(sizeof(double));
}

// Whether u may be known only up to a constant; an alpha that varies may be 0.
bool may_be_pure_neumann(const CaseParameters& parameters) {
  for (int face = 0; face < face_count(parameters.mesh.dimension); ++face) {
    const BoundaryParameters& condition = parameters.boundary[face];
    if (condition.type == BoundaryType::dirichlet) return false;
    if (condition.type == BoundaryType::neumann || !condition.alpha) continue;
    const auto alpha = typical_field(parameters, *condition.alpha).constant;
    if (alpha && *alpha > 0.0) return false;
  }
  return true;
}

// Beside x and b, in vectors: what lifts Dirichlet values (of a Robin face in a vector of its own),
// or zeros, ones and a load to balance with as well.
int load_vectors(const CaseParameters& parameters) {
  if (may_be_pure_neumann(parameters)) return 4;
  for (int face = 0; face < face_count(parameters.mesh.dimension); ++face) {
    if (parameters.boundary[face].type == BoundaryType::robin) return 2;
  }
  return 1;
}

// Points, where they lie, and their values.
Index probe_bytes(const ProbePoints& probes) {
  const auto count = static_cast<Index>(probes.points.size());
  constexpr Index kPointBytes = sizeof(Point) + 2 * sizeof(int) + 2 * sizeof(double);
  return Probes::bytes(count) + kPointBytes * count;
}

// The exact solution at the points of solution.vtu.
Index exact_bytes(const CaseParameters& parameters, const BoxMesh& mesh) {
  if (!parameters.problem.exact) return 0;
  const VtuGrid grid(mesh, parameters.space.degree, parameters.output.vtu);
  return Saturated(grid.points.size()) * sizeof(double);
}

// What solution.vtu is made of in memory: it is made in blocks.
MemoryPhase writing_phase(const CaseSizes& n, const MemoryPart& program,
                          const MemoryPart& positions, const MemoryPart& stepping) {
  return {"writing solution.vtu",
          {program,
           positions,
           stepping,
           {"solution at nodes", n.vectors(1)},
           {"exact solution", exact_bytes(n.parameters, n.mesh)},
           {"coefficient of cells", n.mesh.cell_count() * static_cast<Index>(sizeof(double))},
           {"blocks of the file",
            vtu_working_bytes(n.lattice, n.mesh, omp_get_max_threads(), n.parameters.output.vtu)}}};
}

}  // namespace

MemoryEstimate estimate_memory(const CaseParameters& parameters, const StrategyName& strategy) {
  const CaseSizes n(parameters, strategy);
  const bool on_cpu = case_processor(parameters) == Processor::cpu;
  const auto here = [&](Index bytes) { return on_cpu ? bytes : Index{0}; };
  const OperatorBytes& setup = n.preconditioner_on_host;
  const MemoryPart program{"program", kProgramBytes + omp_get_max_threads() * kThreadBytes +
                                          (on_cpu ? 0 : kCudaProgramBytes)};
  const MemoryPart all_positions{"node positions",
                                 n.is_mapped() ? n.vectors(parameters.mesh.dimension) : 0};
  // Of a mesh that the GPU makes the host asks for what it writes and looks into.
  const MemoryPart positions{all_positions.name,
                             makes_positions_on_gpu(parameters) ? 0 : all_positions.bytes};
  const MemoryPart system{"solution and right-hand side", n.vectors(2)};
  const MemoryPart operation = n.operator_part(here(n.operation.held));
  const MemoryPart nonlinear = on_cpu ? n.nonlinear_part() : n.state_part();
  const MemoryPart preconditioner{kPreconditionerPart,
                                  Saturated(here(n.preconditioner.held)) + setup.held};
  // On their way to the GPU vectors are rounded one at a time.
  const MemoryPart rounded{"single-precision copies",
                           n.is_single() ? n.solver_vectors(on_cpu ? 2 : 1) : 0};

  MemoryEstimate estimate;
  estimate.phases.push_back({"assembling the load",
                             {program,
                              positions,
                              system,
                              {"lifted values, balance", n.vectors(load_vectors(parameters))}}});
  estimate.phases.push_back({"making the operator",
                             {program,
                              positions,
                              system,
                              nonlinear,
                              n.operator_part(here(n.operation.peak)),
                              {"fields on their way to the GPU",
                               on_cpu ? 0 : field_chunk_bytes(parameters, n.shape, strategy)}}});
  const Index made = Saturated(here(n.preconditioner.peak)) + setup.peak;
  if (made > 0) {
    estimate.phases.push_back(
        {"making the preconditioner",
         {program, positions, system, operation, nonlinear, {kPreconditionerPart, made}}});
  }
  if (n.start > 0) {
    estimate.phases.push_back(
        {"starting by full multigrid",
         {program,
          positions,
          system,
          operation,
          preconditioner,
          rounded,
          {"full multigrid", on_cpu ? n.start : full_multigrid_host_bytes(parameters)}}});
  }
  if (parameters.time) {
    // The sums of the mass matrix' rows are those of a load.
    MemoryPart made_mass = n.mass().peak;
    made_mass.bytes = Saturated(here(made_mass.bytes)) + n.vectors(2);
    estimate.phases.push_back({"making the mass matrix",
                               {program, positions, system, operation, preconditioner, made_mass}});
  }
  const auto here_of = [&](MemoryPart part) {
    part.bytes = here(part.bytes);
    return part;
  };
  const MemoryPart method = here_of(n.method_part());
  const MemoryPart mass = here_of(n.mass().held);
  const MemoryPart form = here_of(n.form_part());
  const MemoryPart steps = here_of(n.steps_part());
  if (on_cpu && n.makes_steps_once()) {
    // Its preconditioner and solver come after it.
    estimate.phases.push_back({"making the operator of steps",
                               {program, positions, system, n.operator_part(n.operation.peak),
                                n.form_part(), n.mass().held, steps}});
  }
  estimate.phases.push_back(
      {"solving",
       {program, positions, system, operation, form, nonlinear, preconditioner, mass, method, steps,
        rounded, parameters.time ? here_of(n.update_part()) : MemoryPart{"", 0}}});
  // Outputs come between steps.
  MemoryPart stepping{"held for the next step", 0};
  if (parameters.time) {
    const MemoryPhase held{"", {operation, form, nonlinear, preconditioner, mass, method, steps}};
    stepping.bytes = held.bytes();
  }
  if (parameters.problem.exact) {
    estimate.phases.push_back(
        {"evaluating errors", {program, positions, stepping, {"solution", n.vectors(1)}}});
  }
  if (parameters.output.vtk) {
    estimate.phases.push_back(writing_phase(n, program, all_positions, stepping));
  }
  if (parameters.output.picture) {
    estimate.phases.push_back({kDrawingPhase,
                               {program,
                                all_positions,
                                stepping,
                                {"solution", n.vectors(1)},
                                {"picture", picture_bytes(parameters.mesh.dimension, n.is_mapped(),
                                                          omp_get_max_threads())}}});
  }
  if (parameters.output.picture && parameters.time) {
    const auto outputs = static_cast<Index>(output_times(*parameters.time).size());
    const MemoryPart frames{"animation", animation_bytes(parameters.mesh.dimension, outputs)};
    for (MemoryPhase& phase : estimate.phases) phase.parts.push_back(frames);
  }
  if (const Index probes = probe_bytes(parameters.output.probes); probes > 0) {
    estimate.phases.push_back(
        {"finding the probes",
         {program,
          all_positions,
          system,
          {"boxes of cells", n.is_mapped() ? PointLocator::bytes_in_mapped(n.mesh.cells()) : 0}}});
    for (MemoryPhase& phase : estimate.phases) phase.parts.push_back({"probes", probes});
  }
  return estimate;
}

void require_memory(std::string_view whose, const MemoryEstimate& estimate, Index available) {
  const MemoryPhase& peak = estimate.peak();
  if (peak.bytes() > available) throw NotEnoughMemory(whose, peak, available);
}

}  // namespace tessera
