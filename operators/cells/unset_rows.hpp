// UnsetRows tell which nodes a row batch is the first to add to.
#pragma once

#include "mesh/lanes/cell_batches.hpp"
#include "operators/cells/scatter.hpp"

namespace tessera {

/// The x rows of the nodes of a row batch that nobody has added to before: those with bit i_y of
/// along_y and bit i_z of along_z. Their ends belong to other cells as well.
struct UnsetRows {
  unsigned along_y = 0;
  unsigned along_z = 0;
  bool first_entry = false;
  bool last_entry = false;

  bool has(int iy, int iz) const { return (along_y >> iy & along_z >> iz & 1u) != 0; }
};

/// Batches of a brick go along x, y and z, in this order: each shares its first nodes along an axis
/// with one before it, unless it is the brick's first.
inline UnsetRows unset_rows(const NodeRange& unset, const Brick& brick, const CellBatch& batch,
                            int p, int lanes) {
  const IndexTriple& cell = batch.cells[0];
  const auto is_unset = [&](int d, Index i) {
    const Index node = cell[d] * p + i;
    return (i > 0 || cell[d] == brick.first[d]) && unset.first[d] <= node && node < unset.end[d];
  };
  UnsetRows rows;
  for (int i = 0; i <= p; ++i) {
    if (is_unset(1, i)) rows.along_y |= 1u << i;
    if (is_unset(2, i)) rows.along_z |= 1u << i;
  }
  rows.first_entry = is_unset(0, 0);
  rows.last_entry = is_unset(0, Index{p} * lanes);
  return rows;
}

}  // namespace tessera
