// This file inverts a small dense matrix on the GPU, and multiplies by one.
#include "solvers/memory/device_array.hpp"
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

}  // namespace

// By sweeps as on the host, but of all entries.
bool invert_on_device(std::vector<double>& matrix, std::int64_t n) {
  DeviceArray<double> a(matrix);
  const auto size = static_cast<int>(n);
  const unsigned tiles = blocks_for(n, kPivots);
  const std::int64_t entries = static_cast<std::int64_t>(tiles) * kPivots * kPivots;
  DeviceArray<double> columns(entries);
  DeviceArray<double> weighted(entries);
  DeviceArray<double> factors(entries);
  DeviceArray<double> inverse(kPivots * kPivots);
  const SweptColumns swept{columns.data(), weighted.data(), factors.data(), inverse.data()};
  DeviceArray<int> are_allowed(std::vector<int>{1});
  for (int first = 0; first < size; first += kPivots) {
    launch(pivots_kernel, {"pivots of a dense matrix", tiles, dim3(kPivots, kRowsPerPass)}, size,
           first, a.data(), swept, are_allowed.data());
    launch(sweep_kernel,
           {"sweeping a dense matrix", dim3(tiles, tiles), dim3(kPivots, kRowsPerPass)}, size,
           first, swept, a.data());
  }
  copy_to_host(a.data(), a.bytes(), matrix.data());
  return to_host(are_allowed).front() == 1;
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
