// This file inverts a small dense matrix on the GPU, and multiplies by one.
#include "solvers/check.hpp"
#include "solvers/errors.hpp"
#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/memory/device_array.hpp"
#include "solvers/memory/entry_loop.cuh"
#include "solvers/memory/launch.cuh"
#include "solvers/memory/warp.cuh"
#include "solvers/preconditioners/constant_shift.hpp"
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

// Pivots that are taken at a time, and the edge of the tiles in which the others are swept.
constexpr int kPivots = 32;
constexpr int kRowsPerPass = 8;
using Tile = double[kPivots][kPivots + 1];

// Turns a symmetric tile into d on the diagonal and L below of A = L diag(d) L^T, by all kPivots x
// kRowsPerPass threads of the block. Returns whether d is positive and finite.
__device__ bool factorize(Tile& tile) {
  const int x = static_cast<int>(threadIdx.x);
  bool are_allowed = true;
  for (int k = 0; k < kPivots; ++k) {
    const double pivot = tile[k][k];
    are_allowed = are_allowed && pivot > 0.0 && isfinite(pivot);
    for (int y = static_cast<int>(threadIdx.y); y < kPivots; y += kRowsPerPass) {
      if (y > k && x > k) tile[y][x] -= tile[y][k] * (tile[k][x] / pivot);
    }
    __syncthreads();
  }
  for (int y = static_cast<int>(threadIdx.y); y < kPivots; y += kRowsPerPass) {
    if (x < y) tile[y][x] /= tile[x][x];
  }
  __syncthreads();
  return are_allowed;
}

// Of a row c of columns of pivots: y = c L^-T, z = y diag(d)^-1 and f = c A^-1 = z L^-1, by one
// thread; y to columns, z to weighted, f to factors.
__device__ void solve_row(const Tile& tile, const double* c, double* columns, double* weighted,
                          double* factors) {
  double row[kPivots];
#pragma unroll
  for (int k = 0; k < kPivots; ++k) row[k] = c[k];
#pragma unroll
  for (int j = 1; j < kPivots; ++j) {
#pragma unroll
    for (int k = 0; k < j; ++k) row[j] -= row[k] * tile[j][k];
  }
#pragma unroll
  for (int k = 0; k < kPivots; ++k) {
    columns[k] = row[k];
    row[k] /= tile[k][k];
    weighted[k] = row[k];
  }
#pragma unroll
  for (int j = kPivots - 2; j >= 0; --j) {
#pragma unroll
    for (int k = j + 1; k < kPivots; ++k) row[j] -= row[k] * tile[k][j];
  }
#pragma unroll
  for (int k = 0; k < kPivots; ++k) factors[k] = row[k];
}

// What a sweep of the pivots K takes, [i][kPivots] each.
struct SweptColumns {
  double* columns;   // A_iK L^-T
  double* weighted;  // the same, divided by d
  double* factors;   // A_iK A_KK^-1
  double* inverse;   // [kPivots][kPivots], A_KK^-1
};

// The columns of a sweep. Pivots beyond the last one are those of an identity. By L and d, not by
// A_KK^-1 itself, whose rounding errors would count twice.
//
// Launch: kPivots x kRowsPerPass threads, a block for kPivots rows; each factorizes A_KK.
__global__ void __launch_bounds__(kPivots* kRowsPerPass)
    pivots_kernel(int n, int first, const double* a, SweptColumns swept, int* are_allowed) {
  __shared__ Tile pivots;
  __shared__ Tile rows;
  __shared__ Tile unit;
  const int x = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.x) * kPivots;
  const bool is_pivot = first + x < n;
  for (int y = static_cast<int>(threadIdx.y); y < kPivots; y += kRowsPerPass) {
    unit[y][x] = x == y ? 1.0 : 0.0;
    pivots[y][x] = is_pivot && first + y < n
                       ? a[static_cast<std::int64_t>(first + y) * n + first + x]
                       : unit[y][x];
    rows[y][x] =
        is_pivot && row + y < n ? a[static_cast<std::int64_t>(row + y) * n + first + x] : 0.0;
  }
  __syncthreads();
  if (!factorize(pivots)) *are_allowed = 0;
  if (threadIdx.y == 0) {
    const int at = (row + x) * kPivots;
    solve_row(pivots, rows[x], swept.columns + at, swept.weighted + at, swept.factors + at);
  } else if (threadIdx.y == 1 && blockIdx.x == 0) {
    solve_row(pivots, unit[x], unit[x], unit[x], swept.inverse + x * kPivots);
  }
}

// A_ij -= weighted_i . columns_j, A_iK = factors_i, A_Kj = factors_j, A_KK = -A_KK^-1.
//
// Launch: kPivots x kRowsPerPass threads, a block a tile of kPivots x kPivots entries.
__global__ void __launch_bounds__(kPivots* kRowsPerPass)
    sweep_kernel(int n, int first, SweptColumns swept, double* a) {
  __shared__ Tile of_rows;
  __shared__ Tile of_columns;
  const int x = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.y) * kPivots;
  const int column = static_cast<int>(blockIdx.x) * kPivots;
  for (int y = static_cast<int>(threadIdx.y); y < kPivots; y += kRowsPerPass) {
    of_rows[y][x] = swept.weighted[(row + y) * kPivots + x];
    of_columns[y][x] = swept.columns[(column + y) * kPivots + x];
  }
  __syncthreads();
  const int j = column + x;
  for (int y = static_cast<int>(threadIdx.y); y < kPivots; y += kRowsPerPass) {
    const int i = row + y;
    if (i >= n || j >= n) continue;
    double* const entry = a + static_cast<std::int64_t>(i) * n + j;
    if (row == first && column == first) {
      *entry = -swept.inverse[y * kPivots + x];
    } else if (row == first) {
      *entry = swept.factors[j * kPivots + y];
    } else if (column == first) {
      *entry = swept.factors[i * kPivots + x];
    } else {
      double sum = 0.0;
      for (int c = 0; c < kPivots; ++c) sum += of_rows[y][c] * of_columns[x][c];
      *entry -= sum;
    }
  }
}

// Turns a symmetric positive definite matrix into -A^-1 by sweeps as on the host, but of all
// entries: (i, j) and (j, i) may differ in rounding.
void invert_in_place(std::int64_t n, DeviceArray<double>& a, DeviceArray<int>& are_allowed) {
  const auto size = static_cast<int>(n);
  const unsigned tiles = blocks_for(n, kPivots);
  const std::int64_t entries = static_cast<std::int64_t>(tiles) * kPivots * kPivots;
  DeviceArray<double> columns(entries);
  DeviceArray<double> weighted(entries);
  DeviceArray<double> factors(entries);
  DeviceArray<double> inverse(kPivots * kPivots);
  const SweptColumns swept{columns.data(), weighted.data(), factors.data(), inverse.data()};
  for (int first = 0; first < size; first += kPivots) {
    launch(pivots_kernel, {"pivots of a dense matrix", tiles, dim3(kPivots, kRowsPerPass)}, size,
           first, a.data(), swept, are_allowed.data());
    launch(sweep_kernel,
           {"sweeping a dense matrix", dim3(tiles, tiles), dim3(kPivots, kRowsPerPass)}, size,
           first, swept, a.data());
  }
  // Before the columns go.
  synchronize_device();
}

// The rows of a sparse matrix.
struct HostRows {
  std::vector<std::int64_t> begin{0};
  std::vector<std::int64_t> columns;
  std::vector<double> values;
  double trace = 0.0;
  double sum = 0.0;
};

HostRows read_rows(const SparseRows<double>& a, std::int64_t n) {
  HostRows rows;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t first = rows.begin.back();
    const std::int64_t end = first + a.row_length(i);
    rows.columns.resize(static_cast<std::size_t>(end));
    rows.values.resize(static_cast<std::size_t>(end));
    a.read_row(i, rows.columns.data() + first, rows.values.data() + first);
    for (std::int64_t k = first; k < end; ++k) {
      rows.sum += rows.values[k];
      if (rows.columns[k] == i) rows.trace += rows.values[k];
    }
    rows.begin.push_back(end);
  }
  return rows;
}

// The rows in a full matrix, and something more in all its entries.
DeviceArray<double> dense_matrix(const HostRows& rows, std::int64_t n, double shift) {
  DeviceArray<double> a(n * n);
  const DeviceArray<std::int64_t> begin(rows.begin);
  const DeviceArray<std::int64_t> columns(rows.columns);
  const DeviceArray<double> values(rows.values);
  double* const entries = a.data();
  for_each_entry(n * n, "clearing a dense matrix",
                 [=] __device__(std::int64_t i) { entries[i] = shift; });
  const std::int64_t* const first = begin.data();
  const std::int64_t* const column = columns.data();
  const double* const value = values.data();
  for_each_entry(n, "rows of a dense matrix", [=] __device__(std::int64_t i) {
    for (std::int64_t k = first[i]; k < first[i + 1]; ++k) entries[i * n + column[k]] += value[k];
  });
  // Before the rows go.
  synchronize_device();
  return a;
}

}  // namespace

template <class T>
DeviceArray<T> dense_inverse_on_device(const SparseRows<double>& a, std::int64_t n,
                                       NullSpace null_space) {
  const HostRows rows = read_rows(a, n);
  const ConstantShift shift = constant_shift(rows.trace, rows.sum, n, null_space);
  DeviceArray<double> matrix = dense_matrix(rows, n, shift.of_matrix);
  DeviceArray<int> are_allowed(std::vector<int>{1});
  invert_in_place(n, matrix, are_allowed);
  if (to_host(are_allowed).front() != 1) {
    throw NumericalBreakdown("the operator of the coarsest level is not positive definite");
  }
  DeviceArray<T> result(n * n);
  const double* const from = matrix.data();
  T* const to = result.data();
  const double added = shift.of_inverse;
  for_each_entry(n * n, "rounding a dense inverse", [=] __device__(std::int64_t at) {
    const std::int64_t i = at / n;
    const std::int64_t j = at - i * n;
    to[at] = static_cast<T>(added - from[i >= j ? at : j * n + i]);
  });
  // Before the matrix goes.
  synchronize_device();
  return result;
}

template DeviceArray<double> dense_inverse_on_device(const SparseRows<double>&, std::int64_t,
                                                     NullSpace);
template DeviceArray<float> dense_inverse_on_device(const SparseRows<double>&, std::int64_t,
                                                    NullSpace);

template <class T>
void DenseMatrix<T, Device>::update(const DeviceArray<T>& entries) {
  TESSERA_CHECK(entries.size() == entries_.size());
  enqueue_copy(entries_.data(), entries.data(), static_cast<std::size_t>(entries_.bytes()),
               cudaMemcpyDeviceToDevice, "copying a dense inverse");
  // Before the others go.
  synchronize_device();
}

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
