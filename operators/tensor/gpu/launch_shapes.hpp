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

/// A thread a line in 3D: geometry on the fly and compressed factors, both precisions.
struct LineRows {
  int rows;  // of a block: warps where a cell's lines fit in one, else cells
  // A multiprocessor, with compressed factors: registers are held down to it.
  int compressed_blocks;
};
/// By points an axis, from 2 on.
inline constexpr LineRows kLineRows[] = {{2, 12}, {2, 10}, {2, 10}, {2, 10}, {4, 4},
                                         {1, 9},  {1, 8},  {1, 5},  {1, 4}};

/// Where a tensor of a cell lies in shared memory, [z][y][x], and which threads have its lines. A
/// wavefront takes 8 bytes for each of 16 neighboring threads, if they lie in different banks.
struct LineLayout {
  int lanes;  // thread a + lanes b of a cell has its lines number (a, b)
  int row;    // values from one row to the next, from one plane to the next
  int plane;
  int apart;  // values between two cells, beside their three tensors
};
/// By points an axis, from 2 on: odd rows side by side, but where other strides are faster.
inline constexpr LineLayout kLineLayouts[] = {{2, 3, 6, 0},  {3, 3, 9, 0},  {4, 5, 20, 0},
                                              {5, 5, 25, 0}, {6, 9, 54, 8}, {8, 7, 56, 0},
                                              {8, 9, 72, 0}, {9, 9, 81, 0}, {10, 11, 110, 0}};

/// Compressed factors with a thread a plane: blocks a multiprocessor, a warp each.
inline constexpr int kPlaneBlocks = 16;

}  // namespace tessera
