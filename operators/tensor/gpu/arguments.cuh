// These are the arguments of the tensor kernels, and their products of one line.
#pragma once

#include "operators/cells/device_cells.hpp"

namespace tessera {

/// What the tensor kernels of all sizes are given.
template <class T>
struct TensorArguments {
  CellGrid grid;
  CellRange range;
  CellSource<T> source;
  CellSink<T> sink;
  int brick[3];   // cells that a thread block takes along each axis
  int bricks[3];  // thread blocks along each axis
  const T* factors;
  Index factor_stride;
  T axis_scale[3];
  const T* reaction;  // r_q [cell][q], or null
  T reaction_scale;   // of equal cells
};

/// The 1D matrices of n = p + 1 nodes and m points, by rows, held in the constant bank of kernel
/// parameters: with the unrolled loops below, multiplications take them as operands.
template <class T, int n, int m>
struct LineMatrices {
  T B[m * n];  // values, [q][i]
  T D[m * m];  // derivatives at the points, [q][q]
};

/// M = B^T W B and K = G^T W G of one axis of the reference cell, [i][j].
template <class T, int n>
struct LineProducts {
  T M[n * n];
  T K[n * n];
};

/// out[a] = sum_b matrix[a][b] in[b]: one line in registers.
template <int rows, int columns, class T>
__device__ __forceinline__ void multiply_line(const T* matrix, const T (&in)[columns],
                                              T (&out)[rows]) {
#pragma unroll
  for (int a = 0; a < rows; ++a) {
    T sum = matrix[a * columns] * in[0];
#pragma unroll
    for (int b = 1; b < columns; ++b) sum += matrix[a * columns + b] * in[b];
    out[a] = sum;
  }
}

/// out[b] = sum_a matrix[a][b] in[a].
template <int rows, int columns, class T>
__device__ __forceinline__ void multiply_line_transposed(const T* matrix, const T (&in)[rows],
                                                         T (&out)[columns]) {
#pragma unroll
  for (int b = 0; b < columns; ++b) {
    T sum = matrix[b] * in[0];
#pragma unroll
    for (int a = 1; a < rows; ++a) sum += matrix[a * columns + b] * in[a];
    out[b] = sum;
  }
}

/// values[a] = from[a stride].
template <int count, class T>
__device__ __forceinline__ void load_line(const T* from, int stride, T (&values)[count]) {
#pragma unroll
  for (int a = 0; a < count; ++a) values[a] = from[a * stride];
}

/// to[a stride] = values[a].
template <int count, class T>
__device__ __forceinline__ void store_line(T* to, int stride, const T (&values)[count]) {
#pragma unroll
  for (int a = 0; a < count; ++a) to[a * stride] = values[a];
}

/// line = matrix line, in memory: columns become rows.
template <int rows, int columns, class T>
__device__ __forceinline__ void replace_line(const T* matrix, T* line, int stride) {
  T in[columns];
  T out[rows];
  load_line(line, stride, in);
  multiply_line<rows, columns>(matrix, in, out);
  store_line(line, stride, out);
}

/// line = matrix^T line, in memory: rows become columns.
template <int rows, int columns, class T>
__device__ __forceinline__ void replace_line_transposed(const T* matrix, T* line, int stride) {
  T in[rows];
  T out[columns];
  load_line(line, stride, in);
  multiply_line_transposed<rows, columns>(matrix, in, out);
  store_line(line, stride, out);
}

}  // namespace tessera
