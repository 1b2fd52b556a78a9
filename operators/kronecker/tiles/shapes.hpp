// These tables are the launch shapes of the Kronecker kernels, as measured on H100 and H200; the
// wide ones on H200.
#pragma once

#include <cstddef>

#include "mesh/index.hpp"

namespace tessera {

/// How a row of cells is cut: into full tiles and a rest, or into tiles of the same width, the last
/// of which may reach beyond the mesh. That width is a number that the kernel gets, which takes
/// registers.
enum class RowCut { full_tiles, even_tiles };

/// How many cells a thread block takes, and how many blocks a multiprocessor is to hold.
struct TileShape {
  int cells_x;  // at most
  int cells_y;
  int work_x;  // cells of an item of the x pass
  int work_y;  // cells of an item of the y pass
  int layers;  // cells along z at a time
  int threads;
  int blocks;
  RowCut row_cut = RowCut::full_tiles;
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

/// How many cells along x a tile has where so many have free nodes. Even tiles are no more than
/// full ones would be.
constexpr int tile_cells_x(const TileShape& tile, int cells) {
  if (tile.row_cut == RowCut::full_tiles) return tile.cells_x;
  const Index pieces = ceil_div(cells, tile.work_x);
  const Index tiles = ceil_div(cells, tile.cells_x);
  return static_cast<int>(ceil_div(pieces, tiles)) * tile.work_x;
}

/// By degree, from 1 on: tiles for large meshes, of which a multiprocessor holds one. They read
/// fewer nodes of other tiles. {}: there is none that is faster in all that solvers do.
inline constexpr TileShape kWideTilesDouble[] = {{},
                                                 {},
                                                 {32, 4, 2, 2, 1, 608, 1, RowCut::even_tiles},
                                                 {30, 2, 2, 2, 1, 512, 1, RowCut::even_tiles},
                                                 {},
                                                 {13, 1, 1, 1, 1, 512, 1, RowCut::even_tiles},
                                                 {},
                                                 {}};
inline constexpr TileShape kWideTilesSingle[] = {{},
                                                 {},
                                                 {32, 8, 2, 4, 1, 608, 1, RowCut::even_tiles},
                                                 {30, 4, 2, 4, 1, 512, 1, RowCut::even_tiles},
                                                 {},
                                                 {},
                                                 {9, 2, 1, 2, 1, 512, 1, RowCut::even_tiles},
                                                 {}};

/// Tiles of the form `step`, which is in single precision and needs registers for three more
/// vectors: at degrees 1 and 2, where other forms have kernels by warps, and one for large meshes.
inline constexpr TileShape kStepTiles[] = {{60, 8, 4, 8, 4, 256, 3}, {30, 4, 2, 4, 2, 256, 3}};
inline constexpr TileShape kWideStepTileOf8 = {8, 1, 1, 1, 1, 608, 1, RowCut::even_tiles};

/// What a kernel makes of A x: a product, with sums or a residual, or a step of a smoother.
enum class TileUse { product, step };
constexpr TileShape wide_kronecker_tile(int p, std::size_t value_bytes,
                                        TileUse use = TileUse::product) {
  if (use == TileUse::step && p == 8) return kWideStepTileOf8;
  return value_bytes == sizeof(double) ? kWideTilesDouble[p - 1] : kWideTilesSingle[p - 1];
}
constexpr bool has_wide_kronecker_tile(int dimension, int p, std::size_t value_bytes,
                                       TileUse use = TileUse::product) {
  return dimension == 3 && wide_kronecker_tile(p, value_bytes, use).threads > 0;
}

/// Whether wide tiles are faster on a mesh with so many cells along x and y that have free nodes:
/// there is about one for each multiprocessor at least, with enough nodes, and few cells of tiles
/// lie beyond the mesh.
constexpr bool suits_wide_tiles(const TileShape& tile, int p, Index cells_x, Index cells_y,
                                Index multiprocessors) {
  constexpr Index kMinNodes = 840;  // of a plane for each multiprocessor
  constexpr double kMinTiles = 0.875;
  constexpr double kMinFilled = 0.84;
  const Index cells = cells_x * cells_y;
  const Index tiles = ceil_div(cells_x, tile.cells_x) * ceil_div(cells_y, tile.cells_y);
  const Index cells_of_tiles = tiles * tile.cells_x * tile.cells_y;
  const auto part = [](Index of, Index whole) {
    return static_cast<double>(of) / static_cast<double>(whole);
  };
  return part(tiles, multiprocessors) >= kMinTiles &&
         cells * p * p >= kMinNodes * multiprocessors && part(cells, cells_of_tiles) >= kMinFilled;
}

}  // namespace tessera
