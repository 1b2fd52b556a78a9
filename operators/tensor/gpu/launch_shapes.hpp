// These tables are the launch shapes of the tensor kernels of the GPU, as measured on an H200.
#pragma once

namespace tessera {

/// Stored factors and equal cells, 2D and 3D: a block takes as many cells as these allow, and at
/// least one. Small blocks, many on a multiprocessor at different stages, keep its memory busy:
/// they are 10 to 40 % faster than 256 threads and all of the shared memory in one or two blocks.
inline constexpr int kBrickThreads = 160;
inline constexpr int kBrickSharedBytes = 33 << 10;

/// The threads to which the compiler fits the registers of these kernels, and of the one that
/// computes the geometry in 2D.
constexpr int max_brick_threads(int dimension, int points) {
  return dimension == 2 || points <= 8 ? 256 : 4 * points * points;
}

/// Geometry on the fly, 2D: as many cells of `points` threads as these hold.
inline constexpr int kFlatThreads = 128;

}  // namespace tessera
