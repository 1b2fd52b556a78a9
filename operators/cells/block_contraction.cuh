// These functions contract tensors by the threads of a team.
#pragma once

#include <vector>

#include "mesh/element/basis_1d.hpp"
#include "operators/cells/cell_team.cuh"
#include "operators/cells/small_divisor.cuh"

namespace tessera {

/// The entries of a matrix's transpose, by rows.
template <class T>
std::vector<T> transposed(const Matrix1D& matrix) {
  std::vector<T> values;
  for (int b = 0; b < matrix.columns; ++b) {
    for (int a = 0; a < matrix.rows; ++a) values.push_back(static_cast<T>(matrix(a, b)));
  }
  return values;
}

/// Contracts one axis of `count` tensors by the threads of a team: out[slow][rows][fast] =
/// sum_b M[a][b] in[slow][b][fast], M [rows][columns] by rows. Ends at a barrier; any sizes.
/// @param room values from one tensor to the next
template <int count, class Team, class T>
__device__ inline void contract_axis_of(const Team& team, const T* matrix, int rows, int columns,
                                        int fast, int slow, const T* in, T* out, int room) {
  const SmallDivisor by_fast(fast);
  const SmallDivisor by_rows(rows);
  team.for_each(slow * rows * fast, [&](int t) {
    const int row = by_fast.quotient(t);
    const int s = by_rows.quotient(row);
    const T* const entries = matrix + (row - s * rows) * columns;
    const T* line = in + s * columns * fast + t - row * fast;
    T sum[count] = {};
    for (int b = 0; b < columns; ++b, line += fast) {
      const T entry = entries[b];
#pragma unroll
      for (int k = 0; k < count; ++k) sum[k] += entry * line[k * room];
    }
#pragma unroll
    for (int k = 0; k < count; ++k) out[k * room + t] = sum[k];
  });
  __syncthreads();
}

template <class Team, class T>
__device__ inline void contract_axis(const Team& team, const T* matrix, int rows, int columns,
                                     int fast, int slow, const T* in, T* out) {
  contract_axis_of<1>(team, matrix, rows, columns, fast, slow, in, out, 0);
}

/// Contracts all axes of `count` tensors with one matrix: in [columns]^dim -> [rows]^dim, lying in
/// `other` if dim is odd, else in `in`; each has `room` values a tensor, at least max(rows,
/// columns)^dim. Returns where they lie.
template <int count, class Team, class T>
__device__ inline T* contract_all_axes_of(const Team& team, const T* matrix, int rows, int columns,
                                          int dimension, T* in, T* other, int room) {
  int fast = 1;
  int slow = dimension == 3 ? columns * columns : columns;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    if (d == dimension) break;
    contract_axis_of<count>(team, matrix, rows, columns, fast, slow, in, other, room);
    T* swapped = in;
    in = other;
    other = swapped;
    fast *= rows;
    slow = d == 0 && dimension == 3 ? columns : 1;
  }
  return in;
}

template <class Team, class T>
__device__ inline T* contract_all_axes(const Team& team, const T* matrix, int rows, int columns,
                                       int dimension, T* in, T* other) {
  return contract_all_axes_of<1>(team, matrix, rows, columns, dimension, in, other, 0);
}

}  // namespace tessera
