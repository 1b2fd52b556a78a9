// This file gathers the positions by which the widths of cells are known.
#include "operators/ranks/whole_widths.hpp"

#include <vector>

#include "mesh/coarsening.hpp"

namespace tessera {
namespace {

// Whether a grid point of the whole is one of the part, and no rank before this one has it.
bool owns(const BoxMesh& part, const IndexTriple& point) {
  for (int d = 0; d < part.dimension(); ++d) {
    const Index first = part.place().first_cell[d];
    const bool is_after_first = point[d] > first || point[d] == 0;
    if (!is_after_first || point[d] < first || point[d] > first + part.cells()[d]) return false;
  }
  return true;
}

}  // namespace

Point mean_cell_widths(const Discretization& discretization, const RankPart& part) {
  if (discretization.mapping.is_cartesian()) return mean_cell_widths(part.whole_mesh());
  const BoxMesh& mesh = discretization.mesh;
  std::vector<double> positions;
  const auto own_position = [&](const IndexTriple& point) {
    Point x{};
    if (owns(mesh, point)) {
      IndexTriple vertex{0, 0, 0};
      for (int d = 0; d < mesh.dimension(); ++d) vertex[d] = point[d] - mesh.place().first_cell[d];
      discretization.mapping.node_positions(discretization.lattice.vertex_node(vertex), 1, x.data(),
                                            &x[1], &x[2]);
    }
    positions.insert(positions.end(), x.begin(), x.end());
    return x;
  };
  (void)mean_cell_widths(part.whole_mesh(), own_position);
  part.ranks().sum(positions);
  std::size_t next = 0;
  const auto position = [&](const IndexTriple&) {
    const Point x{positions[next], positions[next + 1], positions[next + 2]};
    next += 3;
    return x;
  };
  return mean_cell_widths(part.whole_mesh(), position);
}

}  // namespace tessera
