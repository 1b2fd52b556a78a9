// A KroneckerShape says how the kernels cut the mesh, and what a block has in shared memory.
#pragma once

#include "operators/kronecker/device_data.hpp"
#include "operators/kronecker/tiles/shapes.hpp"

namespace tessera {

/// How the kernels cut the mesh: a block has a tile of cells_x by cells_y cells of a plane, and in
/// 3D moves it through z by steps of `layers` layers of cells. The columns of a tile are its nodes
/// and those of the cells around it that they are coupled to: width + p + 1 along x. Even tiles
/// have up to so many cells along x, and the places in shared memory of the most.
template <class Value, int Degree, TileShape tile>
struct KroneckerShape {
  using T = Value;
  static constexpr int p = Degree;
  static constexpr TileShape shape = tile;
  static constexpr int work_x = tile.work_x;
  static constexpr int work_y = tile.work_y;
  static constexpr int layers = tile.layers;
  static constexpr int threads = tile.threads;
  static constexpr int blocks_per_sm = tile.blocks;
  static constexpr int cells_x = tile.cells_x;
  static constexpr int cells_y = tile.cells_y;
  static constexpr int width = cells_x * p;
  static constexpr int height = cells_y * p;
  static constexpr int columns = width + p + 1;
  static constexpr int entries = p * (p + 2);
  static constexpr int window_y = (work_y + 1) * p + 1;
  static constexpr int outputs_x = work_x * p;  // of an item of the x pass
  static constexpr int outputs_y = work_y * p;
  static constexpr int pieces_x = cells_x / work_x;
  static constexpr int pieces_y = cells_y / work_y;
  static constexpr int planes = p * layers;  // of a step, 3D
  static constexpr int rounds_of(int total, int size) { return (total + size - 1) / size; }
  static constexpr int rounds_z = rounds_of(width * height, threads);  // nodes of a plane a thread

  static_assert(cells_x % work_x == 0 && cells_y % work_y == 0 && threads % 32 == 0);
  // In 2D the plane is one.
  static constexpr bool has_thread_for_each_column(int dimension) {
    return (dimension == 3 ? planes : 1) * pieces_y * columns <= threads;
  }

  // The x pass takes `lines` rows at a time, the threads of a piece side by side. Rows are padded
  // such that they read from banks of their own: with enough lines an odd length does, with few a
  // thread's piece follows that of the thread before, one word on.
  static constexpr int banks = 128 / static_cast<int>(sizeof(T));
  static constexpr int max_lines = threads / pieces_x;
  static constexpr bool has_many_lines = max_lines >= 16;
  static constexpr int lines_of_step = planes * height;
  static constexpr int lines =
      has_many_lines ? rounds_of(lines_of_step, rounds_of(lines_of_step, max_lines)) : outputs_x;
  static constexpr int row =
      has_many_lines ? columns | 1 : (columns + banks - 2) / banks * banks + 1;
  static constexpr int plane = row * height;
  static_assert(has_many_lines || outputs_x <= max_lines);

  static constexpr int table_entries(int dimension, KroneckerCells kind) {
    const bool has_z = dimension == 3 && has_table_along_z(kind);
    const bool has_xy = kind == KroneckerCells::different;
    return (has_z ? layers * (p + 1) * (p + 1) : 0) + (has_xy ? entries * (cells_x + cells_y) : 0);
  }
  // Whether (a, b) take the place of (v1, v2) in shared memory, as there is no room for both.
  static constexpr bool is_in_place(int dimension) {
    constexpr int kRoom = 160 * 1024;  // for the blocks of a multiprocessor
    return dimension == 2 || blocks_per_sm * pair_bytes((2 * planes + 1) * plane) > kRoom;
  }
  // Of (a, b): the planes of a step, and in 3D the one below.
  static constexpr int slots(int dimension) { return dimension == 3 ? planes + 1 : 1; }
  static constexpr int shared_bytes(int dimension, KroneckerCells kind) {
    const int all_slots = slots(dimension) + (is_in_place(dimension) ? 0 : planes);
    return pair_bytes(table_entries(dimension, kind) + all_slots * plane);
  }

 private:
  // Pairs of values: entries of mass and stiffness, (a, b), (v1, v2).
  static constexpr int pair_bytes(int pairs) { return 2 * pairs * static_cast<int>(sizeof(T)); }
};

}  // namespace tessera
