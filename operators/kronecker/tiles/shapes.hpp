// These tables are the launch shapes of the Kronecker kernels, as measured on H100 and H200.
#pragma once

#include <cstddef>

namespace tessera {

/// How many cells a thread block takes, and how many blocks a multiprocessor is to hold.
struct TileShape {
  int cells_x;
  int cells_y;
  int work_x;  // cells of an item of the x pass
  int work_y;  // cells of an item of the y pass
  int layers;  // cells along z at a time
  int threads;
  int blocks;
};

/// By degree, from 1 on. A thread has at most one item of the y pass, whose x is in registers in 3D
/// while the other passes are at work. Each of a multiprocessor's four parts has a quarter of its
/// registers, so that a thread may have 128 of them with 16 warps, 96 with 20, 80 with 24 and 72
/// with 28.
inline constexpr TileShape kTiles3dDouble[] = {{60, 4, 4, 4, 4, 256, 4}, {30, 2, 2, 2, 2, 256, 4},
                                               {18, 2, 2, 2, 1, 192, 3}, {16, 1, 1, 1, 1, 288, 3},
                                               {11, 1, 1, 1, 1, 320, 2}, {5, 1, 1, 1, 1, 224, 2},
                                               {4, 1, 1, 1, 1, 256, 2},  {4, 1, 1, 1, 1, 352, 1}};
inline constexpr TileShape kTiles3dSingle[] = {{60, 8, 4, 8, 4, 256, 4}, {30, 4, 2, 4, 2, 256, 4},
                                               {20, 4, 2, 2, 1, 384, 2}, {14, 2, 1, 2, 1, 256, 3},
                                               {11, 2, 1, 2, 1, 320, 2}, {9, 2, 1, 2, 1, 384, 2},
                                               {5, 1, 1, 1, 1, 320, 2},  {4, 1, 1, 1, 1, 352, 2}};
inline constexpr TileShape kTiles2dDouble[] = {
    {124, 16, 4, 16, 1, 128, 4}, {62, 8, 2, 8, 1, 128, 4}, {41, 4, 1, 4, 1, 128, 4},
    {14, 4, 1, 2, 1, 128, 5},    {24, 3, 1, 3, 1, 128, 3}, {19, 2, 1, 2, 1, 128, 3},
    {17, 1, 1, 1, 1, 128, 5},    {14, 1, 1, 1, 1, 128, 5}};
inline constexpr TileShape kTiles2dSingle[] = {
    {124, 16, 4, 16, 1, 128, 6}, {62, 8, 2, 8, 1, 128, 6}, {41, 4, 1, 4, 1, 128, 6},
    {30, 4, 1, 4, 1, 128, 5},    {24, 3, 1, 3, 1, 128, 5}, {19, 2, 1, 2, 1, 128, 5},
    {17, 2, 1, 2, 1, 128, 5},    {14, 2, 1, 2, 1, 128, 5}};

constexpr TileShape kronecker_tile(int dimension, int p, std::size_t value_bytes) {
  const bool is_double = value_bytes == sizeof(double);
  if (dimension == 3) return is_double ? kTiles3dDouble[p - 1] : kTiles3dSingle[p - 1];
  return is_double ? kTiles2dDouble[p - 1] : kTiles2dSingle[p - 1];
}

}  // namespace tessera
