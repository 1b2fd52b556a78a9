// This file adds up the memory of a run, phase after phase.
#include "src/case/memory/memory_estimate.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>

#include "mesh/field/field_program.hpp"
#include "mesh/saturated.hpp"
#include "operators/cells/block_scratch.hpp"
#include "operators/cells/fields/device_field.hpp"
#include "operators/load/device_load.hpp"
#include "operators/nonlinear/device_drift.hpp"
#include "operators/tensor/gpu/factors.hpp"
#include "postprocess/device_error_norms.hpp"
#include "postprocess/files/human_units.hpp"
#include "postprocess/picture/animation.hpp"
#include "postprocess/picture/solution_picture.hpp"
#include "postprocess/probes/point_location.hpp"
#include "postprocess/probes/probes.hpp"
#include "postprocess/vtk/vtu_writer.hpp"
#include "src/case/memory/multigrid_memory.hpp"
#include "src/case/memory/preconditioner_memory.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/case/time/time_case.hpp"

namespace tessera {
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

// Partial sums of reductions, 1D matrices, lists of faces on the GPU: up to 0.7 MiB were seen.
constexpr Index kSmallDeviceBytes = Index{2} << 20;

}  // namespace

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

// The stages of a method in time, or what BDF keeps of earlier steps, in vectors.
int stage_vectors(const TimeParameters& time) {
  constexpr std::array<int, 3> kImplicitStages = {3, 4, 6};
  constexpr std::array<int, 3> kExplicitStages = {2, 4, 5};
  const auto row = static_cast<std::size_t>(time.order - 2);
  switch (time.method) {
    case TimeMethod::backward_euler:
      return 2;
    case TimeMethod::bdf:
      return time.order + 1;
    case TimeMethod::sdirk:
      return kImplicitStages.at(row);
    case TimeMethod::explicit_rk:
      return kExplicitStages.at(row);
  }
  throw std::logic_error("a method in time without stages");
}

}  // namespace

int time_vectors(const CaseParameters& parameters) {
  constexpr int kOtherVectors = 10;
  return parameters.time ? stage_vectors(*parameters.time) + kOtherVectors : 0;
}

namespace {

// The sizes that the phases of a run are made of.
struct CaseSizes {
  CaseSizes(const CaseParameters& parameters_in, const StrategyName& strategy_in)
      : parameters(parameters_in),
        strategy(strategy_in),
        shape(case_shape(parameters)),
        mesh(shape.mesh),
        lattice(shape.lattice),
        operation(operator_bytes(strategy, shape)),
        preconditioner(preconditioner_bytes(parameters)),
        // The analyzer does not see into the constructor of NodeLattice, which sets all fields.
        // NOLINTNEXTLINE(clang-analyzer-optin.cplusplus.UninitializedObject)
        start(full_multigrid_bytes(parameters)) {}

  bool is_mapped() const { return !parameters.mesh.map.empty(); }
  bool is_single() const { return parameters.operation.precision == Precision::single_precision; }
  /// Vectors in double precision, and in that of the solver.
  Index vectors(int count) const { return Saturated(lattice.size()) * sizeof(double) * count; }
  Index solver_vectors(int count) const {
    return Saturated(lattice.size()) * value_bytes(parameters.operation.precision) * count;
  }
  MemoryPart operator_part(Index bytes) const { return {"operator " + strategy.text(), bytes}; }
  MemoryPart method_part() const {
    const std::string method(name_of(parameters.solver.method));
    return {"vectors of " + method, solver_vectors(tessera::solver_vectors(parameters, strategy))};
  }
  /// Of a linear case in time: the operator of the form beside that of steps.
  MemoryPart form_part() const {
    const bool has_form = parameters.time && !is_nonlinear(parameters);
    return {"operator of the form", has_form ? operation.held : Index{0}};
  }
  /// Of a non-linear case: what its iteration and the Jacobian hold, where it is computed.
  MemoryPart nonlinear_part() const {
    if (!is_nonlinear(parameters)) return {"", 0};
    const Index definite = has_definite_operator(parameters) ? operation.held : Index{0};
    return {fmt::format("vectors and Jacobian of {}", name_of(parameters.nonlinear->method)),
            Saturated(vectors(iteration_vectors())) + drift().held + definite};
  }
  /// What the host holds of it if the GPU computes it: the state of the forms, and values of faces
  /// or fluxes on their way.
  MemoryPart state_part() const {
    if (!is_nonlinear(parameters)) return {"", 0};
    return {"state of the forms", vectors(2)};
  }
  /// While operator and Jacobian take another state or time: what the GPU needs beside them.
  MemoryPart update_part() const {
    const bool moves = is_nonlinear(parameters) ||
                       (parameters.time && ProblemInTime(parameters).step_depends_on_time());
    if (!moves) return {"", 0};
    const OperatorBytes of_drift = drift();
    return {"fields of an update",
            std::max(operation.peak - operation.held, of_drift.peak - of_drift.held)};
  }
  /// Of a case in time: its operator, with the inverse of its diagonal.
  MemoryPart mass_part(Index operator_bytes) const {
    return {"mass matrix", parameters.time ? Saturated(operator_bytes) + vectors(1) : Saturated(0)};
  }

  bool is_on_gpu() const { return shape.processor == Processor::gpu; }
  // On the GPU without the state, with a load of fluxes and in time with lifted values and rates.
  int iteration_vectors() const {
    const int state = case_state(parameters) == StateKind::given ? 1 : 0;
    const int on_gpu = 1 + (parameters.time ? 2 : 0) - state;
    return nonlinear_vectors(parameters) + (is_on_gpu() ? on_gpu : 0);
  }
  OperatorBytes drift() const {
    if (!has_drift(parameters)) return {0, 0};
    if (is_on_gpu()) return device_drift_bytes(shape);
    const Index held = Saturated(mesh.cell_count()) * power(shape.points, shape.dimension()) *
                       shape.dimension() * sizeof(double);
    return {held, held};
  }

  const CaseParameters& parameters;
  const StrategyName& strategy;
  FormShape shape;
  const BoxMesh& mesh;
  const NodeLattice& lattice;
  OperatorBytes operation;
  OperatorBytes preconditioner;
  Index start;  // by full multigrid
};

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

// Points, where they lie, and their values.
Index probe_bytes(const ProbePoints& probes) {
  const auto count = static_cast<Index>(probes.points.size());
  constexpr Index kPointBytes = sizeof(Point) + 2 * sizeof(int) + 2 * sizeof(double);
  return Probes::bytes(count) + kPointBytes * count;
}

// What solution.vtu is made of in memory: it is made in blocks.
MemoryPhase writing_phase(const CaseSizes& n, const MemoryPart& program,
                          const MemoryPart& positions, const MemoryPart& stepping) {
  return {"writing solution.vtu",
          {program,
           positions,
           stepping,
           {"fields at nodes", n.vectors(n.parameters.problem.exact ? 2 : 1)},
           {"coefficient of cells", n.mesh.cell_count() * static_cast<Index>(sizeof(double))},
           {"blocks of the file",
            vtu_working_bytes(n.lattice, n.mesh, omp_get_max_threads(), n.parameters.output.vtu)}}};
}

}  // namespace

MemoryEstimate estimate_memory(const CaseParameters& parameters, const StrategyName& strategy) {
  const CaseSizes n(parameters, strategy);
  const bool on_cpu = case_processor(parameters) == Processor::cpu;
  const auto here = [&](Index bytes) { return on_cpu ? bytes : Index{0}; };
  const OperatorBytes setup = preconditioner_host_bytes(parameters);
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
  const MemoryPart preconditioner{"preconditioner",
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
         {program, positions, system, operation, nonlinear, {"preconditioner", made}}});
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
    MemoryPart made_mass = n.mass_part(n.operation.peak);
    made_mass.bytes = Saturated(here(made_mass.bytes)) + n.vectors(2);
    estimate.phases.push_back({"making the mass matrix",
                               {program, positions, system, operation, preconditioner, made_mass}});
  }
  MemoryPart method = n.method_part();
  method.bytes = here(method.bytes);
  MemoryPart mass = n.mass_part(n.operation.held);
  mass.bytes = here(mass.bytes);
  MemoryPart form = n.form_part();
  form.bytes = here(form.bytes);
  const MemoryPart steps{"vectors of time steps", here(n.vectors(time_vectors(parameters)))};
  estimate.phases.push_back({"solving",
                             {program, positions, system, operation, form, nonlinear,
                              preconditioner, mass, method, steps, rounded}});
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

MemoryEstimate estimate_gpu_memory(const CaseParameters& parameters, const StrategyName& strategy) {
  const CaseSizes n(parameters, strategy);
  const MemoryPart libraries{"CUDA libraries", kCudaLibraryBytes};
  const MemoryPart small{"sums and tables", kSmallDeviceBytes};
  const MemoryPart operation = n.operator_part(n.operation.held);
  const MemoryPart preconditioner{"preconditioner", n.preconditioner.held};
  const MemoryPart system{"solution and right-hand side", n.solver_vectors(2)};
  const MemoryPart load{"right-hand side", n.vectors(1)};
  const MemoryPart positions{"node positions",
                             n.is_mapped() ? n.vectors(parameters.mesh.dimension) : 0};
  // An operator that reads them counts them.
  const MemoryPart others_positions{
      positions.name, strategy.factors == FactorStorage::on_the_fly ? 0 : positions.bytes};
  MemoryEstimate estimate;
  // Norms of the load are those of a copy.
  estimate.phases.push_back(
      {"assembling the load on the GPU",
       {libraries,
        small,
        positions,
        {"right-hand side", n.vectors(2)},
        {"cells of the load",
         block_scratch_bytes(load_block_bytes(parameters.mesh.dimension,
                                              std::max(n.lattice.degree() + 1, n.shape.points),
                                              n.is_mapped()))}}});
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
                                {"preconditioner", n.preconditioner.peak}}});
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
    estimate.phases.push_back(
        {"making the mass matrix on the GPU",
         {libraries, small, others_positions, operation, n.mass_part(n.operation.peak)}});
  }
  const MemoryPhase solving{"solving on the GPU",
                            {libraries,
                             small,
                             others_positions,
                             operation,
                             n.form_part(),
                             nonlinear,
                             preconditioner,
                             n.mass_part(n.operation.held),
                             n.update_part(),
                             system,
                             n.method_part(),
                             {"vectors of time steps", n.vectors(time_vectors(parameters))}}};
  estimate.phases.push_back(solving);
  // Outputs come between steps.
  const MemoryPart stepping{"held for the next step", parameters.time ? solving.bytes() : Index{0}};
  estimate.phases.push_back(
      {"evaluating the solution on the GPU",
       {libraries,
        small,
        stepping,
        {"solution and geometry", device_error_norms_bytes(n.mesh, n.lattice, n.is_mapped(),
                                                           deepest_program(parameters))}}});
  return estimate;
}

void require_memory(std::string_view whose, const MemoryEstimate& estimate, Index available) {
  const MemoryPhase& peak = estimate.peak();
  if (peak.bytes() > available) throw NotEnoughMemory(whose, peak, available);
}

}  // namespace tessera
