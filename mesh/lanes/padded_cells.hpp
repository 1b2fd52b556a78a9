// These functions know how CellBatches cut a mesh, which need not be made for it.
#pragma once

#include "mesh/box_mesh.hpp"

namespace tessera {

/// The number of cells for which CellBatches with these arguments has room: each brick's last batch
/// is filled up to whole SIMD vectors.
Index padded_cells(const BoxMesh& mesh, int lanes, Index bytes_per_cell, int threads);

/// The cells of a full brick along each axis; the last bricks of an axis have what is left. Bricks
/// are in lexicographic order.
IndexTriple brick_cells(const BoxMesh& mesh, int lanes, Index bytes_per_cell, int threads);

}  // namespace tessera
