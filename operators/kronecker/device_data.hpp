// These types are the Kronecker operator as the kernels of the GPU see it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mesh/index_box.hpp"
#include "operators/cells/cell_kernel_limits.hpp"
#include "operators/kronecker/layer_chunks.hpp"
#include "operators/kronecker/tiles/shapes.hpp"
#include "operators/kronecker/warps/shapes.hpp"

namespace tessera {

template <int count>
struct Sums;

/// Position of entry (i, j) of a cell's matrix among those that differ: the matrix is symmetric,
/// and stays so when both of its axes are reversed. [0, distinct_entries(p))
constexpr int distinct_entry(int p, int i, int j) {
  if (j < i) {
    const int swap = i;
    i = j;
    j = swap;
  }
  if (i + j > p) {
    const int swap = i;
    i = p - j;
    j = p - swap;
  }
  // Rows i hold columns i .. p - i.
  return i * (p + 2) - i * i + j - i;
}
constexpr int distinct_entries(int p) { return distinct_entry(p, p / 2, p - p / 2) + 1; }

/// Whether stiffness matrices are applied to differences of values: their rows sum to 0, and of the
/// values themselves rounding would leave a reaction term, of one sign in all cells where u is
/// about constant. Single precision needs it; in double precision nobody would see the term.
template <class T>
constexpr bool kTakesDifferences = sizeof(T) < sizeof(double);

/// A mass and a stiffness entry side by side.
template <class T>
struct alignas(2 * sizeof(T)) EntryPair {
  T mass;
  T stiffness;
};

/// One axis as the kernels see it.
template <class T>
struct DeviceAxis {
  int cells;
  int nodes;
  int first_free;  // nodes that are not constrained
  int last_free;
  // What Robin faces add to the stiffness of the first and the last node, which entries would
  // swallow; in units of the matrices along x where cells are alike.
  T end_term[2];
  // [cell][entry]; of z in 3D, up to kMaxFastDegree: the matrices of cells, [cell][p + 1][p + 1],
  // or what multiples of the first one's they are, [cell].
  const EntryPair<T>* rows;
  const EntryPair<T>* diagonal;  // [node]
};

/// Along which axes cells are alike, so that matrix entries are constants. In 2D along both or
/// none.
enum class KroneckerCells {
  alike,
  multiples_along_z,  // their matrices are multiples of the first cell's there
  alike_along_xy,
  different
};
/// Whether the kernels take the matrices along z from a table.
constexpr bool has_table_along_z(KroneckerCells cells) {
  return cells == KroneckerCells::alike_along_xy || cells == KroneckerCells::different;
}

/// What becomes of v = A x at a node.
enum class KroneckerPass {
  apply,      // y = v
  apply_dot,  // y = v, sums += {x v, v^2}
  residual,   // y = b - v, sum += y^2
  step,       // y = x + scale d (b - v); in single precision, where cells are alike in 3D
  any         // of a kernel: which one is known at run time
};

/// The vectors of one application; those that its form does not name are null.
template <class T>
struct KroneckerVectors {
  KroneckerPass form = KroneckerPass::apply;
  const T* x = nullptr;
  T* y = nullptr;
  const T* b = nullptr;
  const T* d = nullptr;
  T scale = 0;
  double* sums = nullptr;  // two, one for `residual`
};

/// Whether there are kernels for the form `step`.
constexpr bool has_step_kernel(int dimension, std::size_t value_bytes) {
  return dimension == 3 && value_bytes == sizeof(float);
}

/// Whether a block goes through several tiles, one after the other: where the kernel is made for a
/// form with sums, of which there are fewer then. Without sums blocks of one tile are faster, and
/// in 3D they are few.
constexpr bool takes_tiles(int dimension, KroneckerPass compiled) {
  return dimension == 2 &&
         (compiled == KroneckerPass::apply_dot || compiled == KroneckerPass::residual);
}

/// Where blocks leave their two sums, for how many there is room, and the count of those that have.
struct KroneckerSums {
  Sums<2>* partial;
  std::int64_t capacity;
  unsigned* arrived;
};

/// The operator as its kernels see it; `unit`, `vertex`, `beyond` and `unit_z` for degrees up to
/// kMaxFastDegree only.
///
/// Where cells along x and y are alike, M_y = scale M_x and K_y = scale ratio K_x for one cell
/// each; `scale` is part of the matrices of z in 3D. There the kernels take an end for an inner
/// vertex and then take off `beyond` times its value. Of differences, the cell beyond an end has
/// the end's value everywhere, which is no stiffness and a row of mass; else it has zeros, and a
/// diagonal entry of each is too much.
template <class T>
struct KroneckerData {
  KroneckerCells kind;
  DeviceAxis<T> axis[3];  // in 2D the third has one node
  EntryPair<T> unit[distinct_entries(kMaxFastDegree)];
  EntryPair<T> vertex;
  EntryPair<T> beyond;
  EntryPair<T> unit_z[distinct_entries(kMaxFastDegree)];  // where there is no table along z
  T ratio;
  T scale;
  T reaction;  // r of KroneckerFactors
  IndexBox nodes;
  KroneckerVectors<T> v;
  KroneckerSums sums;
};

/// The kernels of 3D are compiled for so many degrees at a time, as CMakeLists.txt has them.
inline constexpr int kKroneckerDegreesOfAFile = 2;

/// Runs the form that data.v names, for first <= p <= last: in 2D for all degrees, in 3D for
/// those of a file.
/// @param chunks those of the operator's launches before, in 3D
/// @throws DeviceError
template <int dimension, int first, int last, class T>
void launch_kronecker_degrees(int p, const KroneckerData<T>& data, ChunksOfKernels& chunks);

/// The most blocks of a launch, each of which needs room for two sums: in 3D those of
/// best_layer_chunks() on a GPU that runs up to 4096 blocks at a time. Wide tiles are no more
/// than those of kronecker_tile().
/// @param cells along x and along y
constexpr std::int64_t kronecker_max_blocks(int dimension, int p, std::size_t value_bytes,
                                            std::int64_t cells_x, std::int64_t cells_y) {
  if (p > kMaxFastDegree) return 0;
  constexpr std::int64_t kSlots = 4096;
  const TileShape tile = kronecker_tile(dimension, p, value_bytes);
  std::int64_t tiles = (cells_x / tile.cells_x + 1) * (cells_y / tile.cells_y + 1);
  if (has_warp_kernel(dimension, p, value_bytes)) {
    const WarpColumns warp = warp_columns(p, value_bytes);
    const std::int64_t rows = warp.rows * kronecker_warp(p, value_bytes).warps;
    tiles = std::max(tiles, (cells_x * p / warp.stored + 1) * (cells_y * p / rows + 1));
  }
  // The room for more than one chunk has those of constrained nodes as well.
  return dimension == 3 ? most_blocks_of_chunks(tiles, kSlots)
                        : tiles + kMostWavesOfChunks * kSlots;
}

}  // namespace tessera
