// A RandomPartition is a mesh with a partition, both by chance.
#pragma once

#include <random>

#include "mesh/partition/box_partition.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {

/// A uniform or graded box in 2D or 3D, cut for 1 to 4 ranks along each axis, parts of one cell
/// among them.
struct RandomPartition {
  BoxMesh mesh;
  BoxPartition partition;

  explicit RandomPartition(std::mt19937& generator, int max_cells = 6)
      : RandomPartition(generator, max_cells, number(generator, 2, 3)) {}

 private:
  RandomPartition(std::mt19937& generator, int max_cells, int dimension)
      : RandomPartition(generator, max_cells, dimension,
                        {number(generator, 1, 4), number(generator, 1, 4),
                         dimension == 3 ? number(generator, 1, 4) : 1}) {}
  RandomPartition(std::mt19937& generator, int max_cells, int dimension, const RankGrid& grid)
      : mesh(random_mesh(generator, max_cells, dimension, grid)),
        partition(mesh, grid,
                  {number(generator, 0, 3), number(generator, 0, 3), number(generator, 0, 3)}) {}

  static int number(std::mt19937& generator, int from, int to) {
    return std::uniform_int_distribution(from, to)(generator);
  }
  static BoxMesh random_mesh(std::mt19937& generator, int max_cells, int dimension,
                             const RankGrid& grid) {
    IndexTriple cells{1, 1, 1};
    for (int d = 0; d < dimension; ++d) cells[d] = grid[d] + number(generator, 0, max_cells);
    return number(generator, 0, 1) == 0 ? general_box(dimension, cells)
                                        : graded_box(dimension, cells);
  }
};

}  // namespace tessera::testing
