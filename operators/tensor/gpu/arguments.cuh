// These are the arguments of the tensor kernels.
#pragma once

#include "operators/cells/device_cells.hpp"
#include "operators/tensor/sweeps/lines_in_registers.cuh"

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

}  // namespace tessera
