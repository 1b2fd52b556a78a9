// This file chooses the rank grid of a case, and how its cells are cut.
#include "src/case/ranks/rank_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "mesh/coarsening.hpp"
#include "mesh/partition/rank_grid.hpp"
#include "operators/multigrid/hierarchy.hpp"
#include "src/case/shape.hpp"
#include "src/solve/preconditioning.hpp"

namespace tessera {
namespace {

std::vector<LevelShape> case_levels(const CaseParameters& parameters) {
  return plan_levels({parameters.space.degree, make_box_mesh(parameters).cells()},
                     parameters.mesh.dimension, case_cell_widths(parameters),
                     multigrid_options(parameters).rules);
}

std::size_t first_small(const std::vector<LevelShape>& levels, const CaseParameters& parameters,
                        int ranks) {
  const Index dofs = gather_dofs(case_processor(parameters), ranks) * gathering_ranks(ranks);
  std::size_t l = 1;
  while (l < levels.size() && node_count(levels[l], parameters.mesh.dimension) > dofs) ++l;
  return l;
}

// How often the cells along each axis are halved from the finest level to this one.
std::array<int, 3> halvings_to(const std::vector<LevelShape>& levels, std::size_t level) {
  std::array<int, 3> count{};
  for (std::size_t l = 1; l <= level; ++l) {
    for (int d = 0; d < 3; ++d) {
      if (levels[l].cells[d] < levels[l - 1].cells[d]) ++count[d];
    }
  }
  return count;
}

// Whether no part cuts a cell of the level.
bool has_parts(const BoxPartition& partition, const std::vector<LevelShape>& levels,
               std::size_t level) {
  const std::array<int, 3> halvings = halvings_to(levels, level);
  for (int d = 0; d < 3; ++d) {
    const std::vector<Index>& starts = partition.cuts(d).starts;
    for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
      if (starts[r] % (Index{1} << halvings[d]) != 0) return false;
    }
  }
  return true;
}

// The levels of the case's hierarchy; the finest alone without multigrid.
std::vector<LevelShape> levels_of(const CaseParameters& parameters) {
  std::vector<LevelShape> levels = case_levels(parameters);
  if (parameters.solver.preconditioner != kMultigrid) levels.resize(1);
  return levels;
}

// What runs on one process alone so far.
void require_suitable(const CaseParameters& parameters, int ranks) {
  if (ranks == 1) return;
  const SolverParameters& solver = parameters.solver;
  for (const char* const name : {kBlockJacobi, kBlockAsynchronousJacobi}) {
    if (solver.preconditioner != name) continue;
    throw UnsuitableRanks("solver.preconditioner",
                          fmt::format("\"{}\" needs the whole case on one process; \"multigrid\" "
                                      "runs on any number",
                                      name));
  }
  if (solver.preconditioner == kMultigrid && solver.multigrid.smoother != SmootherKind::chebyshev) {
    throw UnsuitableRanks("solver.multigrid.smoother",
                          "blocks need the whole case on one process; \"chebyshev\" runs on any "
                          "number");
  }
}

RankGrid named_grid(const std::vector<std::int64_t>& along, int ranks) {
  RankGrid grid{1, 1, 1};
  for (std::size_t d = 0; d < along.size(); ++d) grid[d] = static_cast<int>(along[d]);
  try {
    require_rank_count(grid, ranks);
  } catch (const std::invalid_argument& error) {
    throw UnsuitableRanks(kRanksKey, error.what());
  }
  return grid;
}

RankGrid chosen_grid(const BoxMesh& mesh, int degree, int ranks,
                     const std::array<int, 3>& max_halvings, const ExchangeCost& cost) {
  try {
    return choose_rank_grid(mesh, degree, ranks, max_halvings, cost);
  } catch (const std::invalid_argument& error) {
    throw UnsuitableRanks("mesh.cells", error.what());
  }
}

// Fast diagonalization has planes where they are if ranks have slabs.
std::optional<RankGrid> slabs_of_inverse(const CaseParameters& parameters, const BoxMesh& mesh,
                                         int ranks) {
  const int outer = mesh.dimension() - 1;
  const bool is_inverse = parameters.solver.preconditioner == kFastDiagonalization;
  if (!is_inverse || mesh.cells()[outer] < ranks) return std::nullopt;
  RankGrid grid{1, 1, 1};
  grid[outer] = ranks;
  return grid;
}

constexpr char kNoCoarserParts[] =
    "multigrid merges cells two by two, of which each process needs its own: take fewer processes, "
    "more cells or another preconditioner";

// A grid whose parts the first coarser level has as well.
RankGrid grid_of_coarser(const BoxMesh& mesh, int degree, int ranks,
                         const std::array<int, 3>& max_halvings, const ExchangeCost& cost,
                         const LevelShape& coarser) {
  try {
    return choose_rank_grid(merge_cells(mesh, coarser.cells), degree, ranks, max_halvings, cost);
  } catch (const std::invalid_argument&) {
    throw UnsuitableRanks("mesh.cells", kNoCoarserParts);
  }
}

}  // namespace

std::size_t first_gathered_level(const CaseParameters& parameters, const BoxPartition& partition) {
  const std::vector<LevelShape> levels = levels_of(parameters);
  const std::size_t small = first_small(levels, parameters, partition.rank_count());
  for (std::size_t l = 1; l < levels.size(); ++l) {
    if (l == small) return l;
    if (l + 1 < levels.size() && !has_parts(partition, levels, l + 1)) return l;
  }
  return levels.size();
}

BoxPartition case_partition(const CaseParameters& parameters, int ranks, int hosts) {
  require_suitable(parameters, ranks);
  const BoxMesh mesh = make_box_mesh(parameters);
  const int degree = parameters.space.degree;
  const std::vector<LevelShape> levels = levels_of(parameters);
  // Of the first gathered level each rank restricts to its part.
  const std::size_t gathered = std::min(first_small(levels, parameters, ranks), levels.size() - 1);
  const std::array<int, 3> halvings = halvings_to(levels, gathered);
  const auto has_coarser = [&](const BoxPartition& partition) {
    return levels.size() == 1 || has_parts(partition, levels, 1);
  };
  const std::vector<std::int64_t>& along = parameters.run.ranks.along;
  if (!along.empty()) {
    BoxPartition named(mesh, named_grid(along, ranks), halvings);
    if (!has_coarser(named)) throw UnsuitableRanks(kRanksKey, kNoCoarserParts);
    return named;
  }
  if (const std::optional<RankGrid> slabs = slabs_of_inverse(parameters, mesh, ranks)) {
    return {mesh, *slabs, halvings};
  }
  const ExchangeCost& cost = hosts > 1 ? kOverNetwork : kWithinHost;
  BoxPartition best(mesh, chosen_grid(mesh, degree, ranks, halvings, cost), halvings);
  if (has_coarser(best)) return best;
  return {mesh, grid_of_coarser(mesh, degree, ranks, halvings, cost, levels[1]), halvings};
}

}  // namespace tessera
