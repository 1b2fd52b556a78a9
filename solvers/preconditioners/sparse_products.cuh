// These functions multiply by a sparse matrix in GPU memory within a kernel.
#pragma once

#include <cstdint>

#include "solvers/memory/warp.cuh"
#include "solvers/preconditioners/kept_rows.cuh"

namespace tessera {

// Calls finish(i, sum) once for every row i of a grid of blocks of kCycleThreads, where sum adds
// sum_of_lane(i, lane) over the lanes of the row. Warps take rows so that all blocks are busy.
template <class T, class SumOfLane, class Finish>
__device__ void for_each_row(int rows, int lanes, SumOfLane&& sum_of_lane, Finish&& finish) {
  const int warp = static_cast<int>(threadIdx.x / kWarp * gridDim.x + blockIdx.x);
  const int rows_of_warp = kWarp / lanes;
  const int stride = static_cast<int>(gridDim.x) * (kCycleThreads / lanes);
  const int in_warp = static_cast<int>(threadIdx.x) % kWarp;
  const int lane = in_warp % lanes;
  // All lanes of a warp go round equally often, because they shuffle together.
  for (int base = warp * rows_of_warp; base < rows; base += stride) {
    const int i = base + in_warp / lanes;
    T sum{0};
    if (i < rows) sum = sum_of_lane(i, lane);
    sum = sum_over_lanes(sum, lanes);
    if (i < rows && lane == 0) finish(i, sum);
  }
}

// Calls finish(i, (M x)_i), where value_at(j) is x_j. The matrix is not written while the kernel
// runs.
template <class T, class ValueAt, class Finish>
__device__ void for_each_product(RowsView<T> m, ValueAt&& value_at, Finish&& finish) {
  for_each_row<T>(
      m.rows, m.lanes,
      [&](int i, int lane) {
        const int end = static_cast<int>(__ldg(m.starts + i + 1));
        T sum{0};
#pragma unroll 4
        for (int k = static_cast<int>(__ldg(m.starts + i)) + lane; k < end; k += m.lanes) {
          sum += __ldg(m.values + k) * value_at(__ldg(m.columns + k));
        }
        return sum;
      },
      finish);
}

// A vector that other blocks may have written before the last barrier: past the first-level cache.
template <class T>
struct Values {
  const T* x;

  __device__ T operator()(int i) const { return __ldcg(x + i); }
};
template <class T>
__device__ Values<T> values_of(const T* x) {
  return {x};
}

}  // namespace tessera
