// These functions load, store and multiply one line of values in registers.
#pragma once

namespace tessera {

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
