#include "src/memory_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cases/expression.hpp"
#include "operators/cell_kernel_limits.hpp"
#include "operators/csr.hpp"
#include "postprocess/human_units.hpp"
#include "postprocess/vtu_writer.hpp"
#include "src/case_geometry.hpp"
#include "src/case_setup.hpp"
#include "src/preconditioner_memory.hpp"

namespace tessera {
namespace {

// Of CG: r, p and q = A p.
constexpr int kCgVectors = 3;

// On the GPU, fused forms go with a second p, so that x can follow every second iteration.
int gpu_cg_vectors(const StrategyName& strategy, int degree, PreconditionerChoice choice) {
  const bool fuses = strategy.kernel == "kronecker" && degree <= kMostFastDegree &&
                     choice == PreconditionerChoice::none;
  return fuses ? kCgVectors + 1 : kCgVectors;
}

bool has_constant_coefficient(const CaseParameters& parameters) {
  return parse_expression(parameters.problem.coefficient, parameters.mesh.dimension)
      .constant.has_value();
}

}  // namespace

FaceSet case_dirichlet_faces(const CaseParameters& parameters) {
  FaceSet faces;
  for (int face = 0; face < face_count(parameters.mesh.dimension); ++face) {
    faces[face] = parameters.boundary[face].type == BoundaryType::dirichlet;
  }
  return faces;
}

Index MemoryPhase::bytes() const {
  Index sum = 0;
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
          whose, peak.name, human_bytes(static_cast<double>(peak.bytes())),
          human_bytes(static_cast<double>(available)))) {}

Index value_bytes(Precision precision) {
  return precision == Precision::double_precision ? sizeof(double) : sizeof(float);
}

FactorKind case_factor_kind(const CaseParameters& parameters) {
  if (!parameters.mesh.map.empty() || !make_box_mesh(parameters).is_uniform()) {
    return FactorKind::general;
  }
  return has_constant_coefficient(parameters) ? FactorKind::constant : FactorKind::scaled;
}

Processor case_processor(const CaseParameters& parameters) {
  return parameters.run.device == RunDevice::cuda ? Processor::gpu : Processor::cpu;
}

StrategyBytes strategy_bytes(const CaseParameters& parameters, const StrategyName& strategy) {
  return strategy_bytes(parameters, make_box_mesh(parameters), strategy);
}

StrategyBytes strategy_bytes(const CaseParameters& parameters, const BoxMesh& mesh,
                             const StrategyName& strategy) {
  const auto bytes = [&](auto&& function) {
    return with_operator_size(parameters, mesh, strategy.kernel,
                              [&](const OperatorSize& size) { return function(strategy, size); });
  };
  return {bytes(operator_bytes), bytes(operator_peak_bytes)};
}

Index with_operator_size(const CaseParameters& parameters, const BoxMesh& mesh,
                         const std::string& kernel,
                         const std::function<Index(const OperatorSize&)>& f) {
  const NodeLattice lattice(mesh, parameters.space.degree);
  return f(
      {mesh, lattice, case_dirichlet_faces(parameters), case_factor_kind(parameters),
       parameters.space.points, value_bytes(parameters.operation.precision),
       case_processor(parameters), case_geometry(parameters, kernel),
       has_constant_coefficient(parameters) ? CoefficientKind::constant : CoefficientKind::varies});
}

MemoryEstimate estimate_memory(const CaseParameters& parameters, const StrategyName& strategy) {
  const BoxMesh mesh = make_box_mesh(parameters);
  const NodeLattice lattice(mesh, parameters.space.degree);
  const bool on_cpu = case_processor(parameters) == Processor::cpu;
  const StrategyBytes operation =
      on_cpu ? strategy_bytes(parameters, strategy) : StrategyBytes{0, 0};
  const bool mapped = !parameters.mesh.map.empty();
  const bool single = parameters.operation.precision == Precision::single_precision;
  const Index vector = lattice.size() * static_cast<Index>(sizeof(double));
  const Index solver_vector = lattice.size() * value_bytes(parameters.operation.precision);
  const int solver_vectors = on_cpu ? kCgVectors + preconditioned_vectors(parameters) : 0;
  const StrategyBytes preconditioner =
      on_cpu ? preconditioner_bytes(parameters) : StrategyBytes{0, 0};
  const MemoryPart program{"program", kProgramBytes + (on_cpu ? 0 : kCudaProgramBytes)};
  const MemoryPart positions{"node positions", mapped ? parameters.mesh.dimension * vector : 0};
  const MemoryPart system{"solution and right-hand side", 2 * vector};
  const std::string text = strategy_text(parameters, strategy);

  MemoryEstimate estimate;
  estimate.phases.push_back(
      {"assembling the load", {program, positions, system, {"lifted values", 2 * vector}}});
  estimate.phases.push_back(
      {"making the operator", {program, positions, system, {"operator " + text, operation.peak}}});
  if (preconditioner.peak > 0) {
    estimate.phases.push_back({"making the preconditioner",
                               {program,
                                positions,
                                system,
                                {"operator " + text, operation.held},
                                {"preconditioner", preconditioner.peak}}});
  }
  estimate.phases.push_back({"solving",
                             {program,
                              positions,
                              system,
                              {"operator " + text, operation.held},
                              {"preconditioner", preconditioner.held},
                              {"solver vectors", solver_vectors * solver_vector},
                              {"single-precision copies", single ? 2 * solver_vector : 0}}});
  if (parameters.output.vtk) {
    const int fields = parameters.problem.exact ? 3 : 1;
    const int cell_fields = 1;
    const Index vtu =
        uncompressed_vtu_bytes(lattice, mesh, fields, cell_fields, parameters.output.vtk_precision);
    estimate.phases.push_back(
        {"writing solution.vtu",
         {program,
          positions,
          {"equidistant positions", mapped ? parameters.mesh.dimension * vector : 0},
          {"fields at nodes", fields * vector},
          {"coefficient of cells", mesh.cell_count() * static_cast<Index>(sizeof(double))},
          {"VTK grid", vtu}}});
  }
  return estimate;
}

MemoryEstimate estimate_gpu_memory(const CaseParameters& parameters, const StrategyName& strategy) {
  const NodeLattice lattice(make_box_mesh(parameters), parameters.space.degree);
  const StrategyBytes operation = strategy_bytes(parameters, strategy);
  const Index vector = lattice.size() * value_bytes(parameters.operation.precision);
  const PreconditionerChoice preconditioner = parameters.solver.preconditioner;
  const int solver_vectors =
      gpu_cg_vectors(strategy, parameters.space.degree, preconditioner) +
      (preconditioner == PreconditionerChoice::jacobi ? 0 : preconditioned_vectors(parameters));
  const MemoryPart libraries{"CUDA libraries", kCudaLibraryBytes};
  const std::string text = strategy_text(parameters, strategy);
  MemoryEstimate estimate;
  estimate.phases.push_back(
      {"making the operator on the GPU", {libraries, {"operator " + text, operation.peak}}});
  const StrategyBytes made = preconditioner_bytes(parameters);
  if (made.peak > 0) {
    estimate.phases.push_back(
        {"making the preconditioner on the GPU",
         {libraries, {"operator " + text, operation.held}, {"preconditioner", made.peak}}});
  }
  estimate.phases.push_back({"solving on the GPU",
                             {libraries,
                              {"operator " + text, operation.held},
                              {"preconditioner", made.held},
                              {"solution and right-hand side", 2 * vector},
                              {"solver vectors", solver_vectors * vector}}});
  return estimate;
}

void require_memory(const MemoryEstimate& estimate, Index available) {
  const MemoryPhase& peak = estimate.peak();
  if (peak.bytes() > available) throw NotEnoughMemory("memory", peak, available);
}

void require_gpu_memory(const MemoryEstimate& estimate, Index available) {
  const MemoryPhase& peak = estimate.peak();
  if (peak.bytes() > available) throw NotEnoughMemory("GPU memory", peak, available);
}

}  // namespace tessera
