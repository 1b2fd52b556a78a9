// This file compares rank grids by a model of their cost.
#include "mesh/partition/rank_grid.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "mesh/box_text.hpp"
#include "mesh/node_lattice.hpp"

namespace tessera {
namespace {

bool has_cells_for(const BoxMesh& mesh, const RankGrid& grid) {
  for (int d = 0; d < 3; ++d) {
    if (grid[d] > mesh.cells()[d]) return false;
  }
  return true;
}

}  // namespace

double application_seconds(const BoxMesh& mesh, int degree, const RankGrid& grid,
                           const std::array<int, 3>& max_halvings, const ExchangeCost& cost) {
  const BoxPartition partition(mesh, grid, max_halvings);
  // The largest part, an inner one if there are any.
  std::array<double, 3> nodes{1.0, 1.0, 1.0};
  double dofs = 1.0;
  for (int d = 0; d < mesh.dimension(); ++d) {
    const std::vector<Index>& starts = partition.cuts(d).starts;
    Index most = 0;
    for (int r = 0; r < grid[d]; ++r) most = std::max(most, starts[r + 1] - starts[r]);
    nodes[d] = static_cast<double>(nodes_along(most, degree));
    dofs *= nodes[d];
  }
  double seconds = dofs * cost.seconds_per_dof;
  int cut_axes = 0;
  for (int d = 0; d < mesh.dimension(); ++d) {
    if (grid[d] == 1) continue;
    ++cut_axes;
    const bool is_contiguous = d == mesh.dimension() - 1;
    const double planes = std::min(grid[d] - 1, 2);
    const double bytes = planes * sizeof(double) * (dofs / nodes[d]);
    seconds += cost.latency + (is_contiguous ? 0.0 : cost.packing) +
               (d == 0 ? cost.x_plane_weight : 1.0) * bytes / cost.bytes_per_second;
  }
  return seconds + std::max(cut_axes - 1, 0) * cost.further_axis;
}

RankGrid choose_rank_grid(const BoxMesh& mesh, int degree, int ranks,
                          const std::array<int, 3>& max_halvings, const ExchangeCost& cost) {
  if (ranks < 1) throw std::invalid_argument("there is at least one rank");
  RankGrid best{};
  double least = std::numeric_limits<double>::infinity();
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y != 0) continue;
      const RankGrid grid = {x, y, ranks / x / y};
      if (!has_cells_for(mesh, grid)) continue;
      const double seconds = application_seconds(mesh, degree, grid, max_halvings, cost);
      if (seconds >= least) continue;
      least = seconds;
      best = grid;
    }
  }
  if (best[0] == 0) {
    throw std::invalid_argument(
        std::to_string(ranks) + " processes cannot share " +
        box_text(mesh.cells(), mesh.dimension()) +
        " cells: no box of so many processes has a cell for each along every axis");
  }
  return best;
}

void require_rank_count(const RankGrid& grid, int ranks) {
  const Index count = Index{grid[0]} * grid[1] * grid[2];
  if (count == ranks) return;
  throw std::invalid_argument("a grid of " + box_text(grid, 3) + " ranks is for " +
                              std::to_string(count) + " processes, not for " +
                              std::to_string(ranks));
}

}  // namespace tessera
