// This function counts cells with the padding of their last batches.
#pragma once

#include "mesh/box_mesh.hpp"

namespace tessera {

/// The number of cells for which CellBatches with these arguments has room: each brick's last batch
/// is filled up to whole SIMD vectors. The batches need not be made for it.
Index padded_cells(const BoxMesh& mesh, int lanes, Index bytes_per_cell, int threads);

}  // namespace tessera
