// The product with |I - D^-1 A| on the GPU.
#include "solvers/memory/launch.cuh"
#include "src/studies/update_order/jacobi_radius.hpp"

namespace tessera {
namespace {

constexpr int kThreads = 128;

// A thread block a block of rows, a thread a row.
__global__ void __launch_bounds__(kThreads) multiply_absolute_kernel(
    const std::int64_t* __restrict__ begin, const std::int32_t* __restrict__ rows,
    const std::int64_t* __restrict__ entries, const std::int32_t* __restrict__ inside,
    const std::int32_t* __restrict__ columns, const double* __restrict__ values,
    const double* __restrict__ inverse_diagonal, const double* __restrict__ x,
    double* __restrict__ y) {
  const std::int64_t first = begin[blockIdx.x];
  const std::int64_t end = begin[blockIdx.x + 1];
  for (std::int64_t q = first + threadIdx.x; q < end; q += kThreads) {
    const std::int32_t row = rows[q];
    const std::int64_t middle = entries[q] + inside[q];
    double sum = 0.0;
    for (std::int64_t k = entries[q]; k < entries[q + 1]; ++k) {
      const std::int32_t column = k < middle ? rows[first + columns[k]] : columns[k];
      if (column != row) sum += fabs(values[k]) * x[column];
    }
    y[row] = fabs(inverse_diagonal[q]) * sum;
  }
}

}  // namespace

void multiply_absolute(const BlockRows<double, Device>& a, const DeviceVector<double>& x,
                       DeviceVector<double>& y) {
  if (a.block_count == 0) return;
  launch(multiply_absolute_kernel,
         {"multiplying by absolute values", blocks_for(a.block_count, 1), kThreads}, a.begin.data(),
         a.rows.data(), a.entries.data(), a.inside.data(), a.columns.data(), a.values.data(),
         a.inverse_diagonal.data(), x.data(), y.data());
}

}  // namespace tessera
