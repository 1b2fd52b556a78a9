// This file chooses the rank grid of a case, and how its cells are cut.
#include "src/case/rank_partition.hpp"

#include "mesh/coarsening.hpp"
#include "mesh/partition/rank_grid.hpp"
#include "src/case/setup.hpp"
#include "src/solve/preconditioning.hpp"

namespace tessera {
namespace {

// How often the hierarchy of the case halves the cells along each axis.
std::array<int, 3> halvings(const CaseParameters& parameters, const BoxMesh& mesh) {
  const std::vector<LevelShape> levels =
      plan_levels({parameters.space.degree, mesh.cells()}, mesh.dimension(),
                  case_cell_widths(parameters), multigrid_options(parameters).rules);
  std::array<int, 3> count{};
  for (std::size_t l = 1; l < levels.size(); ++l) {
    for (int d = 0; d < mesh.dimension(); ++d) {
      if (levels[l].cells[d] < levels[l - 1].cells[d]) ++count[d];
    }
  }
  return count;
}

}  // namespace

BoxPartition case_partition(const CaseParameters& parameters, int ranks) {
  const BoxMesh mesh = make_box_mesh(parameters);
  const std::array<int, 3> most_halvings = halvings(parameters, mesh);
  const RankGrid grid =
      choose_rank_grid(mesh, parameters.space.degree, ranks, most_halvings, kWithinHost);
  return {mesh, grid, most_halvings};
}

}  // namespace tessera
