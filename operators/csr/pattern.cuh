// A Pattern knows the place of every entry of the matrix on the GPU.
#pragma once

#include "operators/cells/cell_access.cuh"
#include "solvers/memory/launch.cuh"
#include "solvers/memory/warp.cuh"

namespace tessera {
namespace {

// For the CUDA files of this folder.

constexpr int kThreads = 256;

// Kernels loop where a grid cannot have so many threads.
Launch launch_of(const char* name, Index threads) {
  return {name, blocks_for(threads, kThreads, kMaxGrid), kThreads};
}

// Where every entry of the matrix is. A node is free if first[d] <= its position <= last[d] along
// all axes; for the third axis in 2D both are 0.
struct Pattern {
  CellGrid grid;
  Index first[3];
  Index last[3];
};

Pattern make_pattern(const BilinearForm& form) {
  Pattern pattern{make_cell_grid(form), {}, {}};
  for (int d = 0; d < 3; ++d) {
    const bool used = d < pattern.grid.dimension;
    pattern.first[d] = used && form.dirichlet[2 * d] ? 1 : 0;
    pattern.last[d] = pattern.grid.nodes.extents[d] - (used && form.dirichlet[2 * d + 1] ? 2 : 1);
  }
  return pattern;
}

// The free nodes along one axis that a lattice line's node couples to: [begin, begin + count).
struct Neighbors {
  Index begin;
  Index count;
};

// Of node `local`, 0 .. p, of a cell's line; the cell may be the one after the last for local = 0.
__device__ Neighbors find_neighbors(const Pattern& pattern, int d, Index cell, int local) {
  const Index p = pattern.grid.degree;
  const Index at = local == p ? cell + 1 : cell;
  const bool is_shared = local == 0 || local == p;
  const Index begin = max(pattern.first[d], p * (is_shared ? at - 1 : at));
  const Index end = min(pattern.last[d], p * (at + 1));
  return {begin, end - begin + 1};
}

// A row of the matrix; neighbors are set for free rows only.
struct Row {
  bool is_free;
  IndexTriple position;
  Neighbors neighbors[3];

  __device__ Index length() const {
    return is_free ? neighbors[0].count * neighbors[1].count * neighbors[2].count : 1;
  }
};

__device__ Row find_row(const Pattern& pattern, Index node) {
  Row row{true, pattern.grid.nodes.position(node), {{0, 0}, {0, 0}, {0, 0}}};
  const Index p = pattern.grid.degree;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    const Index at = row.position[d];
    row.is_free = row.is_free && at >= pattern.first[d] && at <= pattern.last[d];
    row.neighbors[d] = find_neighbors(pattern, d, at / p, static_cast<int>(at % p));
  }
  return row;
}

// The place, in its row, of the entry in the column of the node at `position`.
__device__ Index place_in_row(const Row& row, const IndexTriple& position) {
  Index place = 0;
#pragma unroll
  for (int d = 2; d >= 0; --d) {
    place = place * row.neighbors[d].count + position[d] - row.neighbors[d].begin;
  }
  return place;
}

// d_i = A_ii of `count` rows from first_row on, whose entries begin at starts[0], starts[1], ... of
// `values`; rest, where it is not null, is added to it. One thread a row.
template <class T, class Entry, class Offset>
__global__ void __launch_bounds__(kThreads)
    diagonal_kernel(const Pattern pattern, Index first_row, Index count,
                    const Offset* __restrict__ starts, const Entry* __restrict__ values,
                    const T* __restrict__ rest, T* __restrict__ d) {
  for (Index i = thread_number<kThreads>(); i < count; i += thread_count<kThreads>()) {
    const Row row = find_row(pattern, first_row + i);
    const Index place = row.is_free ? place_in_row(row, row.position) : 0;
    const T entry = static_cast<T>(values[starts[i] + place]);
    d[first_row + i] = rest == nullptr ? entry : entry + rest[first_row + i];
  }
}

}  // namespace
}  // namespace tessera
