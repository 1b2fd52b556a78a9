// These tables are the launch shapes of the Kronecker kernels, as measured on an H100.
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

/// By degree, from 1 on. With as many threads as a pass has items, a thread needs few registers.
inline constexpr TileShape kTiles3dDouble[] = {{60, 4, 4, 4, 4, 256, 4}, {30, 2, 2, 2, 2, 256, 4},
                                               {18, 2, 2, 2, 1, 192, 4}, {14, 1, 1, 1, 1, 256, 4},
                                               {11, 1, 1, 1, 1, 320, 3}, {5, 1, 1, 1, 1, 224, 3},
                                               {4, 1, 1, 1, 1, 128, 4},  {4, 1, 1, 1, 1, 128, 4}};
inline constexpr TileShape kTiles3dSingle[] = {{60, 8, 4, 8, 4, 256, 4}, {30, 4, 2, 4, 2, 256, 4},
                                               {20, 2, 2, 2, 2, 384, 3}, {14, 2, 1, 2, 1, 256, 4},
                                               {11, 2, 1, 2, 1, 320, 3}, {5, 1, 1, 1, 1, 224, 5},
                                               {4, 1, 1, 1, 1, 256, 4},  {4, 1, 1, 1, 1, 256, 4}};
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
