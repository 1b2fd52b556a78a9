// This file multiplies by a small dense matrix on the GPU.
#include "solvers/memory/launch.cuh"
#include "solvers/memory/warp.cuh"
#include "solvers/preconditioners/dense_inverse.hpp"

namespace tessera {
namespace {

constexpr int kThreads = 128;

// z_i = sum_j entries[i][j] r_j; a warp per row.
template <class T>
__global__ void __launch_bounds__(kThreads)
    dense_product_kernel(int n, const T* entries, const T* r, T* z) {
  const int i = static_cast<int>(blockIdx.x) * (kThreads / kWarp) + threadIdx.x / kWarp;
  if (i >= n) return;
  const int lane = threadIdx.x % kWarp;
  const T* const row = entries + static_cast<std::int64_t>(i) * n;
  T sum{0};
  for (int j = lane; j < n; j += kWarp) sum += row[j] * r[j];
  sum = sum_over_lanes<kWarp>(sum);
  if (lane == 0) z[i] = sum;
}

}  // namespace

template <class T>
void DenseMatrix<T, Device>::do_apply(const DeviceVector<T>& r, DeviceVector<T>& z) const {
  const int n = static_cast<int>(r.size());
  launch(dense_product_kernel<T>,
         {"the solver of the coarsest level", blocks_for(n, kThreads / kWarp), kThreads}, n,
         entries_.data(), r.data(), z.data());
}

template class DenseMatrix<double, Device>;
template class DenseMatrix<float, Device>;

}  // namespace tessera
