// These tables are the launch shapes of the Kronecker kernels, as measured on an H200.
#pragma once

namespace tessera {

/// How many cells a thread block takes, and how many blocks a multiprocessor is to hold.
struct TileShape {
  int cells_x;
  int work_x;  // cells of an item along x
  int work_y;  // cells along y
  int threads;
  int blocks_double;
  int blocks_float;
};

/// By degree, from 1 on.
inline constexpr TileShape kTiles3d[] = {
    {60, 4, 8, 64, 8, 12}, {30, 2, 4, 64, 8, 12}, {20, 1, 2, 64, 8, 12}, {14, 1, 2, 64, 6, 9},
    {11, 1, 1, 64, 6, 9},  {9, 1, 1, 64, 4, 6},   {8, 1, 1, 64, 4, 6},   {14, 1, 1, 128, 2, 3}};
inline constexpr TileShape kTiles2d[] = {
    {60, 4, 16, 64, 8, 12}, {30, 2, 8, 64, 8, 12}, {20, 1, 4, 64, 8, 12}, {14, 1, 4, 64, 6, 10},
    {11, 1, 3, 64, 6, 10},  {9, 1, 2, 64, 6, 8},   {8, 1, 2, 64, 6, 8},   {14, 1, 2, 128, 3, 4}};

/// For meshes with too few tiles to keep a GPU busy.
inline constexpr int kMaxSmallTileDegree = 4;
inline constexpr TileShape kSmallTiles3d[] = {
    {60, 4, 4, 64, 12, 12}, {30, 2, 2, 64, 10, 10}, {20, 1, 1, 64, 8, 8}, {14, 1, 1, 64, 8, 8}};

}  // namespace tessera
