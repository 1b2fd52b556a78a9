#include "src/preconditioner_memory.hpp"

#include "mesh/coarsening.hpp"
#include "operators/block_jacobi.hpp"
#include "operators/fast_diagonalization.hpp"
#include "src/case_geometry.hpp"
#include "src/case_setup.hpp"
#include "src/kernel_choice.hpp"
#include "src/memory_estimate.hpp"
#include "src/preconditioning.hpp"

namespace tessera {
namespace {

// Of a smoothed level: right-hand side, solution, residual, and the smoother's three.
constexpr int kLevelVectors = 6;

Precision cycle_precision(const CaseParameters& parameters) {
  return parameters.operation.precision == Precision::single_precision
             ? Precision::single_precision
             : parameters.solver.multigrid.precision;
}

AxisSpacing spacing_of(const BoxMesh& mesh, int d) {
  AxisSpacing spacing;
  if (mesh.is_uniform(d)) return spacing;
  for (Index i = 0; i <= mesh.cells()[d]; ++i) spacing.lines.push_back(mesh.grid_line(d, i));
  return spacing;
}

// The case with the mesh, the degree and the strategy of a level.
CaseParameters on_level(const CaseParameters& parameters, const BoxMesh& mesh, int degree) {
  CaseParameters level = parameters;
  for (int d = 0; d < mesh.dimension(); ++d) {
    level.mesh.cells[d] = mesh.cells()[d];
    level.mesh.spacing[d] = spacing_of(mesh, d);
  }
  const int excess = parameters.space.points - parameters.space.degree;
  level.space.degree = degree;
  level.space.points = degree + excess;
  level.space.geometry = GeometryChoice::automatic;
  level.operation.precision = cycle_precision(parameters);
  level.operation.kernel = why_unsuitable("kronecker", parameters).empty() ? "kronecker" : "tensor";
  level.operation.scatter =
      level.operation.kernel == "kronecker" ? kNoScatter : multigrid_options(parameters).scatter;
  return level;
}

StrategyBytes block_bytes(const CaseParameters& parameters, const BoxMesh& mesh,
                          BlockExchange exchange) {
  const auto bytes = [&](auto&& function) {
    return with_operator_size(parameters, mesh, "csr",
                              [&](const OperatorSize& size) { return function(size, exchange); });
  };
  return {bytes(block_jacobi_bytes), bytes(block_jacobi_peak_bytes)};
}

// Of the blocks that multigrid smooths with.
BlockExchange exchange_of(const CaseParameters& parameters) {
  return parameters.solver.multigrid.smoother == SmootherChoice::block_jacobi
             ? BlockExchange::synchronous
             : BlockExchange::asynchronous;
}

// What is needed beyond that while the blocks of the finest level are made: its matrix.
Index block_assembly_bytes(const CaseParameters& parameters) {
  if (parameters.solver.multigrid.smoother == SmootherChoice::chebyshev) return 0;
  CaseParameters in_cycle = parameters;
  in_cycle.operation.precision = cycle_precision(parameters);
  const StrategyBytes bytes =
      block_bytes(in_cycle, make_box_mesh(parameters), exchange_of(parameters));
  return bytes.peak - bytes.held;
}

}  // namespace

std::vector<LevelSummary> planned_levels(const CaseParameters& parameters) {
  const BoxMesh finest = make_box_mesh(parameters);
  const int dimension = finest.dimension();
  const std::vector<LevelShape> shapes =
      plan_levels({parameters.space.degree, finest.cells()}, dimension,
                  case_cell_widths(parameters), multigrid_options(parameters).rules);
  BoxMesh mesh = finest;
  std::vector<LevelSummary> levels;
  for (std::size_t l = 0; l < shapes.size(); ++l) {
    mesh = merge_cells(mesh, shapes[l].cells);
    const CaseParameters level = on_level(parameters, mesh, shapes[l].degree);
    const StrategyName strategy{level.operation.kernel, level.operation.scatter};
    const bool is_coarsest = l + 1 == shapes.size();
    const Index n = node_count(shapes[l], dimension);
    const Index value = value_bytes(level.operation.precision);
    const bool is_the_cases = l == 0 && value == value_bytes(parameters.operation.precision);
    const Index held = strategy_bytes(level, mesh, strategy).held;
    const auto vector = static_cast<double>(n * value);
    LevelSummary summary{shapes[l],
                         n,
                         is_the_cases ? "as the case's" : strategy_text(level, strategy),
                         is_the_cases ? 0 : held,
                         0.0,
                         0.0};
    if (is_coarsest && n <= kMostDenseDofs) {
      summary.bytes += n * n * value;
      summary.cycle_bytes = static_cast<double>(n) * vector;
    } else {
      summary.bytes += kLevelVectors * n * value;
      if (parameters.solver.multigrid.smoother != SmootherChoice::chebyshev && !is_coarsest) {
        summary.bytes += block_bytes(level, mesh, exchange_of(parameters)).held;
      }
      const double apply = static_cast<double>(held) + 2.0 * vector;
      summary.cycle_bytes = smoothed_level_bytes(multigrid_options(parameters), apply, vector);
    }
    levels.push_back(std::move(summary));
  }
  return levels;
}

StrategyBytes preconditioner_bytes(const CaseParameters& parameters) {
  const NodeLattice lattice(make_box_mesh(parameters), parameters.space.degree);
  const Index vector = lattice.size() * value_bytes(parameters.operation.precision);
  switch (parameters.solver.preconditioner) {
    case PreconditionerChoice::none:
      break;
    case PreconditionerChoice::jacobi:
      return {vector, vector};
    case PreconditionerChoice::chebyshev:
      // The diagonal, the step and A x; while the eigenvalue is estimated the diagonal and four.
      return {3 * vector, 5 * vector};
    case PreconditionerChoice::multigrid: {
      // Residual and correction where they are rounded, and what lies between sweeps of transfers;
      // while the finest level's eigenvalue is estimated two more.
      const Index value = value_bytes(cycle_precision(parameters));
      Index bytes = 3 * lattice.size() * value;
      for (const LevelSummary& level : planned_levels(parameters)) bytes += level.bytes;
      return {bytes, bytes + 2 * lattice.size() * value + block_assembly_bytes(parameters)};
    }
    case PreconditionerChoice::fast_diagonalization: {
      const Index bytes = fast_diagonalization_bytes(lattice, case_dirichlet_faces(parameters),
                                                     value_bytes(parameters.operation.precision),
                                                     case_processor(parameters));
      return {bytes, bytes};
    }
    case PreconditionerChoice::block_jacobi:
      return block_bytes(parameters, make_box_mesh(parameters), BlockExchange::synchronous);
    case PreconditionerChoice::block_asynchronous_jacobi:
      return block_bytes(parameters, make_box_mesh(parameters), BlockExchange::asynchronous);
  }
  return {0, 0};
}

int preconditioned_vectors(const CaseParameters& parameters) {
  return parameters.solver.preconditioner == PreconditionerChoice::none ? 0 : 1;
}

}  // namespace tessera
