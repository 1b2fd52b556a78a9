// A KroneckerShape says how the kernels cut the mesh, and what a block has in shared memory.
#pragma once

#include "operators/kronecker/device_data.hpp"

namespace tessera {

/// How the kernels cut the mesh: a block takes a tile of CellsX by WorkY cells of a plane, and in
/// 3D moves it through z. A thread has one column of nodes in the y pass, and in the x pass a piece
/// of WorkX cells in each of `items` rows. CellsX p + p + 1 is at most Threads.
template <class Value, int Degree, int CellsX, int WorkX, int WorkY, int Threads, int BlocksAnSm>
struct KroneckerShape {
  using T = Value;
  static constexpr int p = Degree;
  static constexpr int work_x = WorkX;
  static constexpr int work_y = WorkY;
  static constexpr int threads = Threads;
  static constexpr int blocks_per_sm = BlocksAnSm;
  static constexpr int cells_x = CellsX;
  static constexpr int cells_y = WorkY;
  static constexpr int width = CellsX * p;
  static constexpr int height = WorkY * p;
  static constexpr int loaded_width = width + p + 1;
  static constexpr int entries = p * (p + 2);
  static constexpr int window_x = (WorkX + 1) * p + 1;
  static constexpr int window_y = (WorkY + 1) * p + 1;
  static constexpr int outputs = WorkX * p;  // of an item
  static constexpr int items = height / outputs;

  static_assert(CellsX % WorkX == 0 && height % outputs == 0 && loaded_width <= Threads);

  // Thread t has piece t / outputs of the rows t mod outputs + k outputs: with rows of one word
  // more than a multiple of the banks, threads read from consecutive banks. Threads beyond the tile
  // compute what nobody reads, in room of their own.
  static constexpr int banks = 128 / static_cast<int>(sizeof(T));
  static constexpr int pieces = (Threads + outputs - 1) / outputs;
  static constexpr int row_of(int words) { return (words + banks - 2) / banks * banks + 1; }
  static constexpr int row = row_of(pieces * outputs + p + 1);
  static constexpr int plane = row * height;
  static constexpr int stage_row = row_of(pieces * outputs);
  static constexpr int stage_plane = stage_row * height;
  static constexpr int table_cells = pieces * WorkX;
  static constexpr int table_entries(CellsAlongXY kind) {
    return kind == CellsAlongXY::alike ? 0 : entries * (table_cells + WorkY);
  }
  static constexpr int shared_bytes(int dimension, CellsAlongXY kind) {
    return static_cast<int>(sizeof(T)) * (2 * (2 * entries + table_entries(kind)) + 2 * plane +
                                          (dimension == 3 ? p + 1 : 1) * stage_plane);
  }
};

}  // namespace tessera
