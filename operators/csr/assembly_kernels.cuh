// These kernels assemble the matrix on the GPU.
#pragma once

#include <cstdint>

#include "operators/csr/pattern.cuh"

namespace tessera {
namespace {

// The kernels of assembly.cu, which alone includes this.

// Where entry (row, column) of a cell's matrix goes, both given by their nodes in the cell; -1
// where one of them is constrained.
__device__ Index find_entry(const Pattern& pattern, const Index* __restrict__ rows,
                            const int (&cell)[3], const int (&row)[3], const int (&column)[3]) {
  const Index p = pattern.grid.degree;
  Index node = 0;
  Index place = 0;
  Index count = 1;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    const Index row_at = p * cell[d] + row[d];
    const Index column_at = p * cell[d] + column[d];
    if (min(row_at, column_at) < pattern.first[d] || max(row_at, column_at) > pattern.last[d]) {
      return -1;
    }
    const Neighbors neighbors = find_neighbors(pattern, d, cell[d], row[d]);
    node += row_at * pattern.grid.nodes.strides[d];
    place += count * (column_at - neighbors.begin);
    count *= neighbors.count;
  }
  return rows[node] + place;
}

// lengths[i] = length of row i, lengths[row count] = 0. One thread a row.
__global__ void __launch_bounds__(kThreads)
    count_rows_kernel(const Pattern pattern, Index* __restrict__ lengths) {
  const Index size = pattern.grid.nodes.size();
  for (Index i = thread_number<kThreads>(); i <= size; i += thread_count<kThreads>()) {
    lengths[i] = i < size ? find_row(pattern, i).length() : 0;
  }
}

// Columns, increasing; values 0, or 1 on the diagonal of constrained rows. One warp a row; writes
// one T and one column a nonzero.
template <class T>
__global__ void __launch_bounds__(kThreads)
    fill_rows_kernel(const Pattern pattern, const Index* __restrict__ rows,
                     std::int32_t* __restrict__ columns, T* __restrict__ values) {
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const Index size = pattern.grid.nodes.size();
  for (Index i = thread_number<kThreads>() / kWarp; i < size;
       i += thread_count<kThreads>() / kWarp) {
    const Row row = find_row(pattern, i);
    const Index begin = rows[i];
    if (!row.is_free) {
      if (lane == 0) {
        columns[begin] = static_cast<std::int32_t>(i);
        values[begin] = T{1};
      }
      continue;
    }
    // At most (2 p + 1)^d entries.
    const int length = static_cast<int>(row.length());
    const int count_x = static_cast<int>(row.neighbors[0].count);
    const int count_y = static_cast<int>(row.neighbors[1].count);
    for (int k = lane; k < length; k += kWarp) {
      const int line = k / count_x;
      const Index column = pattern.grid.nodes.index(row.neighbors[0].begin + k % count_x,
                                                    row.neighbors[1].begin + line % count_y,
                                                    row.neighbors[2].begin + line / count_y);
      columns[begin + k] = static_cast<std::int32_t>(column);
      values[begin + k] = T{0};
    }
  }
}

// Adds local matrices of cells that share no node: values[entry (i, j)] += K_c[i][j], no atomics,
// deterministic. One thread an entry (cell, i, j), j fastest: matrices[cell * matrix_stride + i N +
// j], read as K_c[i][j] although it is K_c[j][i], since K_c is symmetric and columns are neighbors
// in memory. Reads a T and a row's start, reads and writes a T an entry.
// @param matrix_stride N^2, or 0 if all cells have the same matrix
template <class T>
__global__ void __launch_bounds__(kThreads)
    add_cells_kernel(const Pattern pattern, const CellRange range, const T* __restrict__ matrices,
                     Index matrix_stride, const Index* __restrict__ rows, T* __restrict__ values) {
  const int n = pattern.grid.degree + 1;
  const int nodes = pattern.grid.dimension == 3 ? n * n * n : n * n;
  const Index entries = static_cast<Index>(nodes) * nodes;
  const Index total = range.size() * entries;
  for (Index e = thread_number<kThreads>(); e < total; e += thread_count<kThreads>()) {
    const Index number = e / entries;
    const Index in_matrix = e - number * entries;
    const int i = static_cast<int>(in_matrix / nodes);
    const int j = static_cast<int>(in_matrix - static_cast<Index>(i) * nodes);
    const CellPlace place = place_cell(pattern.grid, range, number);
    const int row[3] = {i % n, i / n % n, i / (n * n)};
    const int column[3] = {j % n, j / n % n, j / (n * n)};
    const Index entry = find_entry(pattern, rows, place.position, row, column);
    if (entry >= 0) values[entry] += matrices[number * matrix_stride + in_matrix];
  }
}

// The cells of one face of the box, as the kernel sees them: position[axes[t]] = first[t] + 2 *
// index, index < count[t], and position[normal] = normal_cell.
struct FaceCells {
  int axes[2];  // the second has one cell and one node a cell in 2D
  int normal;
  int normal_cell;
  int normal_node;  // in the cell, 0 or p
  int first[2];
  int count[2];
  int row_cells;  // of the whole face, along the first axis
  int points;     // per face cell
  int nodes;      // per face cell
};

// Adds sum_q phi_i(q) phi_j(q) alpha_q dS_q of face cells that share no node, no atomics,
// deterministic. One thread an entry (face cell, i, j), j fastest. weights: alpha dS, [cell][q];
// shape: [q][i].
template <class T>
__global__ void __launch_bounds__(kThreads)
    add_face_kernel(const Pattern pattern, const FaceCells face, const double* __restrict__ weights,
                    const double* __restrict__ shape, const Index* __restrict__ rows,
                    T* __restrict__ values) {
  const int n = pattern.grid.degree + 1;
  const Index entries = static_cast<Index>(face.nodes) * face.nodes;
  const Index total = entries * face.count[0] * face.count[1];
  for (Index e = thread_number<kThreads>(); e < total; e += thread_count<kThreads>()) {
    const Index number = e / entries;
    const Index in_matrix = e - number * entries;
    const int i = static_cast<int>(in_matrix / face.nodes);
    const int j = static_cast<int>(in_matrix - static_cast<Index>(i) * face.nodes);
    const int a = face.first[0] + 2 * static_cast<int>(number % face.count[0]);
    const int b = face.first[1] + 2 * static_cast<int>(number / face.count[0]);
    int cell[3];
    int row[3];
    int column[3];
    cell[face.normal] = face.normal_cell;
    row[face.normal] = column[face.normal] = face.normal_node;
    cell[face.axes[0]] = a;
    row[face.axes[0]] = i % n;
    column[face.axes[0]] = j % n;
    cell[face.axes[1]] = b;
    row[face.axes[1]] = i / n;
    column[face.axes[1]] = j / n;
    const Index entry = find_entry(pattern, rows, cell, row, column);
    if (entry < 0) continue;
    const double* of_cell = weights + (a + static_cast<Index>(face.row_cells) * b) * face.points;
    double value = 0.0;
    for (int q = 0; q < face.points; ++q) {
      const double* at_point = shape + static_cast<Index>(q) * face.nodes;
      value += of_cell[q] * at_point[i] * at_point[j];
    }
    values[entry] += static_cast<T>(value);
  }
}

}  // namespace
}  // namespace tessera
