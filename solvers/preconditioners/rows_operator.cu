// This file applies a sparse matrix on the GPU, as small levels of multigrid do.
#include <algorithm>

#include "solvers/memory/launch.cuh"
#include "solvers/preconditioners/fused_levels.hpp"
#include "solvers/preconditioners/sparse_products.cuh"

namespace tessera {
namespace {

// y = A x. Launch: one block a multiprocessor. Reads the matrix and x once, writes y.
template <class T>
__global__ void __launch_bounds__(kCycleThreads)
    rows_product_kernel(const RowsView<T> a, const T* x, T* y) {
  for_each_product(a, values_of(x), [&](int i, T sum) { y[i] = sum; });
}

// d_i = A_ii. Launch: as above.
template <class T>
__global__ void __launch_bounds__(kCycleThreads) rows_diagonal_kernel(const RowsView<T> a, T* d) {
  for_each_row<T>(
      a.rows, a.lanes,
      [&](int i, int lane) {
        const auto end = static_cast<int>(a.starts[i + 1]);
        T sum{0};
        for (int k = static_cast<int>(a.starts[i]) + lane; k < end; k += a.lanes) {
          if (a.columns[k] == i) sum = a.values[k];
        }
        return sum;
      },
      [&](int i, T sum) { d[i] = sum; });
}

}  // namespace

template <class T>
RowsView<T> view_rows(const DeviceSparseRows<T>& matrix) {
  const auto rows = static_cast<int>(std::max<std::int64_t>(matrix.starts.size() - 1, 0));
  // Lanes of a row go round four times at most on average: each time costs the latency of the
  // memory.
  constexpr int kMinLanes = 4;
  constexpr std::int64_t kRounds = 4;
  int lanes = kMinLanes;
  while (lanes < kWarp && lanes * kRounds * rows < matrix.values.size()) lanes *= 2;
  while (lanes < kWarp && 2 * lanes * static_cast<std::int64_t>(rows) <=
                              static_cast<std::int64_t>(multiprocessors()) * kCycleThreads) {
    lanes *= 2;
  }
  return {rows, lanes, matrix.starts.data(), matrix.columns.data(), matrix.values.data()};
}

template <class T>
void RowsOperator<T>::do_apply(const DeviceVector<T>& x, DeviceVector<T>& y) const {
  launch(rows_product_kernel<T>,
         {"product with a sparse matrix", static_cast<unsigned>(multiprocessors()), kCycleThreads},
         view_, x.data(), y.data());
}

template <class T>
void RowsOperator<T>::do_diagonal(DeviceVector<T>& d) const {
  launch(rows_diagonal_kernel<T>,
         {"diagonal of a sparse matrix", static_cast<unsigned>(multiprocessors()), kCycleThreads},
         view_, d.data());
}

template RowsView<double> view_rows(const DeviceSparseRows<double>&);
template RowsView<float> view_rows(const DeviceSparseRows<float>&);
template class RowsOperator<double>;
template class RowsOperator<float>;

}  // namespace tessera
