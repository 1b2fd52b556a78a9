// This file finds choices that a case of this size rules out.
#include "src/case/memory/size_limits.hpp"

#include <fmt/format.h>

#include <limits>

#include "operators/form/cell_grid.hpp"
#include "postprocess/files/human_units.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/memory/preconditioner_memory.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy.hpp"

namespace tessera {
namespace {

constexpr Index kMaxRows = std::numeric_limits<std::int32_t>::max();
constexpr double kMaxSeconds = 1800.0;
constexpr double kNotedSeconds = 10.0;

bool has_blocks(const std::string& preconditioner) {
  return preconditioner == kBlockJacobi || preconditioner == kBlockAsynchronousJacobi;
}

bool smooths_by_blocks(const SolverParameters& solver) {
  return solver.preconditioner == "multigrid" &&
         solver.multigrid.smoother != SmootherKind::chebyshev;
}

SizeProblem too_many_rows(const char* key, std::string_view what, const NodeLattice& lattice,
                          Index most, std::string_view instead) {
  return {
      key,
      fmt::format("{} has at most {} rows, and there are {} DoFs", what, most, lattice.dof_count()),
      fmt::format("use {}, or fewer cells", instead)};
}

void add_axis_problems(const CaseParameters& parameters, const NodeLattice& lattice,
                       std::vector<SizeProblem>& problems) {
  for (int d = 0; d < lattice.dimension(); ++d) {
    const Index nodes = lattice.extents()[d];
    if (case_processor(parameters) == Processor::gpu && nodes > kMaxDeviceExtent) {
      problems.push_back(
          {"mesh.cells",
           fmt::format("makes {} nodes along {}, and the GPU takes at most {} along an axis", nodes,
                       "xyz"[d], kMaxDeviceExtent),
           "fewer cells there, or run.device = \"cpu\", are possible"});
      return;
    }
  }
}

void add_factor_problems(const CaseParameters& parameters, std::vector<SizeProblem>& problems) {
  if (parameters.operation.kernel == kAuto) return;
  const std::optional<FactorStorage> storage = case_strategy(parameters).factors;
  const Index cells = make_box_mesh(parameters).cell_count();
  constexpr Index kMaxCells = std::numeric_limits<std::uint32_t>::max();
  const bool counts_cells = storage.value_or(FactorStorage::stored) != FactorStorage::stored &&
                            case_processor(parameters) == Processor::gpu;
  if (!counts_cells || cells <= kMaxCells) return;
  problems.push_back({"operator.factors",
                      fmt::format("{} is for at most {} cells, and there are {}",
                                  factor_storage_name(*storage), kMaxCells, cells),
                      "use \"stored\", or fewer cells of a higher degree"});
}

void add_matrix_problems(const CaseParameters& parameters, const NodeLattice& lattice,
                         std::vector<SizeProblem>& problems) {
  const KernelInfo* const kernel = find_kernel(parameters.operation.kernel);
  const Index most = kernel == nullptr ? 0 : kernel->max_dofs_on_gpu;
  if (most > 0 && lattice.size() > most && case_processor(parameters) == Processor::gpu) {
    problems.push_back(too_many_rows("operator.kernel",
                                     fmt::format("the matrix of {} on the GPU", kernel->name),
                                     lattice, most, "\"tensor\" or \"auto\""));
  }
  if (lattice.size() <= kMaxRows) return;
  if (has_blocks(parameters.solver.preconditioner)) {
    problems.push_back(too_many_rows("solver.preconditioner", "a matrix in blocks", lattice,
                                     kMaxRows, "\"multigrid\" or \"jacobi\""));
  }
  if (smooths_by_blocks(parameters.solver)) {
    problems.push_back(too_many_rows("solver.multigrid.smoother", "a matrix in blocks", lattice,
                                     kMaxRows, "\"chebyshev\""));
  }
}

// The longest axis, "x", and its free nodes.
std::pair<char, Index> longest_axis(const CaseParameters& parameters, const NodeLattice& lattice) {
  std::pair<char, Index> longest{'x', 0};
  for (int d = 0; d < lattice.dimension(); ++d) {
    const Index n = free_nodes(lattice, case_dirichlet_faces(parameters), d);
    if (n > longest.second) longest = {"xyz"[d], n};
  }
  return longest;
}

bool diagonalizes(const CaseParameters& parameters) {
  return parameters.solver.preconditioner == kFastDiagonalization;
}

}  // namespace

std::vector<SizeProblem> size_problems(const CaseParameters& parameters) {
  const BoxMesh mesh = make_box_mesh(parameters);
  const NodeLattice lattice(mesh, parameters.space.degree);
  std::vector<SizeProblem> problems;
  add_axis_problems(parameters, lattice, problems);
  add_factor_problems(parameters, problems);
  add_matrix_problems(parameters, lattice, problems);
  if (diagonalizes(parameters)) {
    const double seconds = planned_axis_work(parameters).seconds;
    const auto [axis, n] = longest_axis(parameters, lattice);
    if (seconds > kMaxSeconds) {
      problems.push_back(
          {"solver.preconditioner",
           fmt::format("fast-diagonalization needs the eigenvectors of a matrix of {} x {} along "
                       "{}, about {} of work",
                       n, n, axis, human_seconds(seconds)),
           fmt::format("use \"multigrid\", or fewer nodes along {}", axis)});
    }
  }
  return problems;
}

void check_sizes(const CaseParameters& parameters, Findings& findings) {
  if (has_shape_error(findings) || findings.has_error("operator.factors") ||
      findings.has_error("operator.kernel")) {
    return;
  }
  for (const SizeProblem& problem : size_problems(parameters)) {
    findings.report(problem.key, problem.message());
  }
}

std::vector<std::string> size_notes(const CaseParameters& parameters) {
  if (!diagonalizes(parameters)) return {};
  const NodeLattice lattice(make_box_mesh(parameters), parameters.space.degree);
  const double seconds = planned_axis_work(parameters).seconds;
  if (seconds < kNotedSeconds) return {};
  const auto [axis, n] = longest_axis(parameters, lattice);
  return {fmt::format("the eigenproblem of {} x {} along {} takes about {}", n, n, axis,
                      human_seconds(seconds))};
}

}  // namespace tessera
