// A BrickCut divides a mesh into bricks of cells, one for each block of a kernel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "mesh/box_mesh.hpp"

namespace tessera {

/// Threads of a block, and how many nodes each of them may have in registers.
inline constexpr int kResidentThreads = 512;
inline constexpr int kMaxNodesOfThread = 20;
/// How many nodes that bricks share each of them may have.
inline constexpr int kMaxSharedNodesOfThread = 6;

/// Cells along an axis that a thread's item of a pass has, by degree.
constexpr int cells_of_item(int p) { return p == 1 ? 4 : p <= 3 ? 2 : 1; }

/// Planes of a chunk, which go through the passes together.
constexpr int planes_of_chunk(int p) { return cells_of_item(p) * p; }

/// What the first pass leaves is [middle][plane of the chunk][row]: values from one row of planes
/// to the next. Threads that go from one to the next go on in the next bank of shared memory.
constexpr int middle_stride(int p, int row) {
  constexpr int kBanks = 16;  // of doubles
  const int stride = planes_of_chunk(p) * row;
  return stride + ((row - stride) % kBanks + kBanks) % kBanks;
}

/// Values that the passes over a brick leave for each other: in 3D one array by rows of planes and
/// two by planes, in 2D four by planes.
constexpr int scratch_values(int dimension, int p, int row, int middle) {
  const int by_planes = planes_of_chunk(p) * row * middle;
  return dimension == 3 ? middle * middle_stride(p, row) + 2 * by_planes : 4 * by_planes;
}
/// Of another array by rows of planes, those that do not fit into the last plane of a vector.
constexpr int values_behind_vector(int dimension, int p, int row, int middle) {
  return dimension == 3 ? middle * middle_stride(p, row) - row * middle : 0;
}

constexpr int rounds_of_threads(int items) {
  return (items + kResidentThreads - 1) / kResidentThreads;
}
/// Items of a pass on a chunk of planes: so many lines for each of them, and their segments.
constexpr int items_of_pass(int p, int cells, int lines) {
  return (cells / cells_of_item(p) + 1) * planes_of_chunk(p) * lines;
}
/// Values for the items of all passes: of the first one 16 bits each, of the middle one 48, of the
/// last one 32.
constexpr int table_values(int dimension, int p, const std::array<int, 3>& nodes, int row) {
  const auto items = [&](int d, int lines) { return items_of_pass(p, (nodes[d] - 1) / p, lines); };
  const int columns = row * nodes[1];
  const int middle = dimension == 3 ? items(1, row) : 0;
  return (columns + 3 * middle + 2 * items(0, nodes[1]) + 3) / 4;
}

/// Cells along x, y and z; in 2D along x and y as the first and the third, and none as the second,
/// which has one node.
using BrickAxes = std::array<int, 3>;
BrickAxes brick_axes(const BoxMesh& mesh);

/// The first cell of brick b of an axis.
constexpr int first_cell_of_brick(int cells, int bricks, int b) {
  return static_cast<int>(static_cast<std::int64_t>(cells) * b / bricks);
}

/// A cut into bricks along each axis.
struct BrickCut {
  BrickAxes bricks{1, 1, 1};
  /// Nodes of the largest brick, those that it shares with others included.
  BrickAxes nodes{};

  int count() const { return bricks[0] * bricks[1] * bricks[2]; }
  /// Places from one row to the next: an odd number, so that threads in neighboring rows use
  /// different banks of shared memory.
  int row() const { return nodes[0] | 1; }
  int size() const { return row() * nodes[1] * nodes[2]; }
  /// Shared memory of a block, in values: p, q, what passes leave for the next one and what they
  /// have to do.
  int shared_values(int p) const {
    const int dimension = nodes[1] > 1 ? 3 : 2;
    return 2 * size() + values_behind_vector(dimension, p, row(), nodes[1]) +
           scratch_values(dimension, p, row(), nodes[1]) + table_values(dimension, p, nodes, row());
  }
  /// Nodes of the largest brick that others may have as well.
  int shared_nodes() const;
  /// Of these, at most so many that more than one other brick may have.
  int edge_nodes() const { return 4 * (nodes[0] + nodes[1] + nodes[2]); }
  /// Nodes of a face that bricks may share, at most.
  int max_face() const;
  /// Nodes of all bricks, shared ones once for each.
  std::int64_t side_by_side(const BrickAxes& cells, int p) const;
  /// What the GPU's memory holds of such a cut beside the vectors of the iteration.
  std::int64_t bytes(const BrickAxes& cells, int p) const;
};

/// What a GPU has for the kernel.
struct ResidentRoom {
  int blocks;         // as many as run at a time
  int shared_values;  // of a block
};

/// The values of a block, which has some scalars in shared memory as well.
constexpr int resident_values(int shared_bytes) {
  constexpr int kOtherBytes = 1024;
  return (shared_bytes - kOtherBytes) / static_cast<int>(sizeof(double));
}

/// Those measured: H100 and H200.
inline constexpr ResidentRoom kMeasuredGpu{132, resident_values(227 << 10)};

/// The bytes of the best cut on a GPU as those measured, or nothing where no cut fits it.
std::optional<std::int64_t> resident_cg_bytes(const BoxMesh& mesh, int p);

/// The cut by which an iteration takes the least time, or nothing where no cut fits.
std::optional<BrickCut> best_brick_cut(const BrickAxes& cells, int p, const ResidentRoom& room);

/// A cut of a mesh whose axes are taken in another order: axis i of the cut is the mesh's order[i].
struct TurnedCut {
  BrickAxes order;
  BrickCut cut;
};

/// best_brick_cut() of the mesh as it is or, where none fits, turned another way: vectors are then
/// read and written across rows, but only at the beginning and the end of many iterations.
std::optional<TurnedCut> best_turned_cut(const BrickAxes& cells, int p, const ResidentRoom& room);

}  // namespace tessera
