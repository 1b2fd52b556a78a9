// These functions contract a tensor by the threads of a team.
#pragma once

#include <vector>

#include "mesh/element/basis_1d.hpp"
#include "operators/cells/cell_team.cuh"

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

/// Contracts one axis of a tensor by the threads of a team: out[slow][rows][fast] =
/// sum_b M[a][b] in[slow][b][fast], M [rows][columns] by rows. Ends at a barrier; any sizes.
template <class T>
__device__ inline void contract_axis(const CellTeam& team, const T* matrix, int rows, int columns,
                                     int fast, int slow, const T* in, T* out) {
  team.for_each(slow * rows * fast, [&](int t) {
    const int f = t % fast;
    const int a = t / fast % rows;
    const T* line = in + t / (fast * rows) * columns * fast + f;
    T sum{0};
    for (int b = 0; b < columns; ++b) sum += matrix[a * columns + b] * line[b * fast];
    out[t] = sum;
  });
  __syncthreads();
}

/// Contracts all axes with one matrix: in [columns]^dim -> [rows]^dim, lying in `other` if dim is
/// odd, else in `in`; both have room for max(rows, columns)^dim values. Returns where it lies.
template <class T>
__device__ inline T* contract_all_axes(const CellTeam& team, const T* matrix, int rows, int columns,
                                       int dimension, T* in, T* other) {
  int fast = 1;
  int slow = 1;
  for (int d = 1; d < dimension; ++d) slow *= columns;
  for (int d = 0; d < dimension; ++d) {
    contract_axis(team, matrix, rows, columns, fast, slow, in, other);
    T* swapped = in;
    in = other;
    other = swapped;
    fast *= rows;
    slow /= columns;
  }
  return in;
}

}  // namespace tessera
