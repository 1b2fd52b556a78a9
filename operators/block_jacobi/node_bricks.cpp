// This file numbers the nodes of bricks.
#include "operators/block_jacobi/node_bricks.hpp"

#include <limits>
#include <stdexcept>

#include "mesh/partition.hpp"
#include "solvers/errors.hpp"

namespace tessera {
IndexTriple default_node_brick(int dimension) {
  return dimension == 3 ? IndexTriple{8, 8, 4} : IndexTriple{16, 16, 1};
}

Index node_brick_count(const NodeLattice& lattice, const IndexTriple& brick) {
  return IndexBox(ceil_div(lattice.extents(), brick)).count();
}

RowBlocks make_node_bricks(const NodeLattice& lattice, const IndexTriple& brick) {
  if (lattice.size() > std::numeric_limits<std::int32_t>::max()) {
    throw UnsuitableChoice(Choice::preconditioner,
                           "blocks of nodes are for at most 2^31 - 1 DoFs, and there are " +
                               std::to_string(lattice.size()) +
                               "; use \"multigrid\" with the smoother \"chebyshev\"");
  }
  const IndexBox parts(ceil_div(lattice.extents(), brick));
  const auto ranges_of = [&](Index block) {
    const IndexTriple part = parts.position(block);
    std::array<Range, 3> ranges;
    for (int d = 0; d < 3; ++d) {
      ranges[d] = partition(lattice.extents()[d], part[d], parts.extents[d]);
    }
    return ranges;
  };
  RowBlocks blocks;
  const Index count = parts.count();
  blocks.rows.resize(static_cast<std::size_t>(lattice.size()));
  blocks.begin.resize(static_cast<std::size_t>(count) + 1);
  for (Index block = 0; block < count; ++block) {
    const auto [x, y, z] = ranges_of(block);
    blocks.begin[block + 1] = blocks.begin[block] + x.size() * y.size() * z.size();
  }
#pragma omp parallel for schedule(static)
  for (Index block = 0; block < count; ++block) {
    const auto [x, y, z] = ranges_of(block);
    std::int32_t* row = blocks.rows.data() + blocks.begin[block];
    for (Index k = z.begin; k < z.end; ++k) {
      for (Index j = y.begin; j < y.end; ++j) {
        for (Index i = x.begin; i < x.end; ++i) {
          *row++ = static_cast<std::int32_t>(lattice.node_index({i, j, k}));
        }
      }
    }
  }
  return blocks;
}

}  // namespace tessera
