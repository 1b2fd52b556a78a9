// This function counts cells with the padding of their last batches.
#pragma once

#include "mesh/box_mesh.hpp"

namespace tessera {

/// The cells that CellBatches of these arguments has room for: each brick's last batch is filled up
/// to whole SIMD vectors. Known without making the batches.
Index padded_cells(const BoxMesh& mesh, int lanes, Index bytes_per_cell, int threads);

}  // namespace tessera
