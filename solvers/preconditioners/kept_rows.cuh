// These functions let the blocks of a kernel keep rows of sparse matrices in shared memory.
#pragma once

#include <cuda_pipeline.h>

#include <climits>

#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/warp.cuh"
#include "solvers/preconditioners/fused_levels.hpp"

namespace tessera {

inline constexpr int kCycleThreads = 1024;

/// A cycle has one block on each.
inline int multiprocessors() { return device_attribute(cudaDevAttrMultiProcessorCount); }

/// The rows begin .. end - 1 of a block, where blocks take equal parts of the rows in order.
struct RowRange {
  int begin;
  int end;
};

__device__ inline RowRange rows_of_block(int rows) {
  const int count = static_cast<int>((rows + gridDim.x - 1) / gridDim.x);
  const int begin = min(static_cast<int>(blockIdx.x) * count, rows);
  return {begin, min(begin + count, rows)};
}

/// parts[block * stride] = what a block keeps of the matrix. Launch: as many blocks as keep rows.
template <class T>
__global__ void parts_kernel(const RowsView<T> m, KeptPart* parts, int stride) {
  __shared__ int first_column;
  __shared__ int end_column;
  if (threadIdx.x == 0) {
    first_column = INT_MAX;
    end_column = 0;
  }
  __syncthreads();
  const RowRange rows = rows_of_block(m.rows);
  for (int i = rows.begin + static_cast<int>(threadIdx.x); i < rows.end;
       i += static_cast<int>(blockDim.x)) {
    if (m.starts[i] == m.starts[i + 1]) continue;
    atomicMin(&first_column, m.columns[m.starts[i]]);
    atomicMax(&end_column, m.columns[m.starts[i + 1] - 1] + 1);
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  const auto first_entry = static_cast<int>(m.starts[rows.begin]);
  parts[blockIdx.x * stride] = {first_entry, static_cast<int>(m.starts[rows.end]) - first_entry,
                                min(first_column, end_column), end_column};
}

/// Shared memory of a block: `window` has room for the part of x that the rows of a block need.
template <class T>
struct KeptSpace {
  char* begin;
  T* window;
};

template <class T>
__device__ T* kept_values(KeptSpace<T> space, const KeptRows& kept) {
  return reinterpret_cast<T*>(space.begin + kept.offset);
}
template <class T>
__device__ std::int32_t* kept_columns(KeptSpace<T> space, const KeptRows& kept) {
  return reinterpret_cast<std::int32_t*>(kept_values(space, kept) + kept.max_entries);
}

/// Starts to copy what the block keeps of a matrix; wait_for_kept_rows() waits for all copies.
template <class T>
__device__ void copy_rows(const RowsView<T>& m, const KeptRows& kept, const KeptPart& part,
                          KeptSpace<T> space) {
  if (kept.offset == kNotKept) return;
  T* const values = kept_values(space, kept);
  std::int32_t* const columns = kept_columns(space, kept);
  for (int k = static_cast<int>(threadIdx.x); k < part.entry_count; k += kCycleThreads) {
    __pipeline_memcpy_async(values + k, m.values + part.first_entry + k, sizeof(T));
    __pipeline_memcpy_async(columns + k, m.columns + part.first_entry + k, sizeof(std::int32_t));
  }
}
/// The same of the dense matrix m [n][n].
template <class T>
__device__ void copy_dense_rows(const T* m, int n, const KeptRows& kept, KeptSpace<T> space) {
  if (kept.offset == kNotKept) return;
  const RowRange rows = rows_of_block(n);
  T* const values = kept_values(space, kept);
  const T* const from = m + static_cast<std::int64_t>(rows.begin) * n;
  for (int k = static_cast<int>(threadIdx.x); k < (rows.end - rows.begin) * n; k += kCycleThreads) {
    __pipeline_memcpy_async(values + k, from + k, sizeof(T));
  }
}
__device__ inline void wait_for_kept_rows() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
}

/// window[j - first] = x_j; x may have been written by other blocks before the last barrier.
template <class T>
__device__ void load_window(T* window, const T* x, int first, int end) {
  for (int j = first + static_cast<int>(threadIdx.x); j < end; j += kCycleThreads) {
    window[j - first] = __ldcg(x + j);
  }
}

/// Calls finish(i, before(i), (M x)_i) once for each row i that the block keeps, by one of the
/// lanes that share the row. All threads of the block call it; a barrier has to come before the
/// next call.
template <class T, class Before, class Finish>
__device__ void for_each_kept_product(const RowsView<T>& m, const KeptRows& kept,
                                      const KeptPart& part, KeptSpace<T> space, const T* x,
                                      Before&& before, Finish&& finish) {
  load_window(space.window, x, part.first_column, part.end_column);
  const RowRange rows = rows_of_block(m.rows);
  const int lane = static_cast<int>(threadIdx.x) % kept.lanes;
  const int step = kCycleThreads / kept.lanes;
  const T* const values = kept_values(space, kept);
  const std::int32_t* const columns = kept_columns(space, kept);
  int i = rows.begin + static_cast<int>(threadIdx.x) / kept.lanes;
  // What a row needs of memory is asked for before the barrier.
  const auto own_of = [&](int row) { return before(min(row, m.rows - 1)); };
  const auto entries_of = [&](int row) {
    return row < rows.end ? RowRange{static_cast<int>(__ldg(m.starts + row)) - part.first_entry,
                                     static_cast<int>(__ldg(m.starts + row + 1)) - part.first_entry}
                          : RowRange{0, 0};
  };
  auto own = own_of(i);
  RowRange entries = entries_of(i);
  __syncthreads();
  // All lanes of a warp go round equally often, because they shuffle together.
  for (int first = rows.begin; first < rows.end; first += step) {
    T sum{0};
#pragma unroll 4
    for (int k = entries.begin + lane; k < entries.end; k += kept.lanes) {
      sum += values[k] * space.window[columns[k] - part.first_column];
    }
    sum = sum_over_lanes(sum, kept.lanes);
    if (i < rows.end && lane == 0) finish(i, own, sum);
    i += step;
    if (first + step < rows.end) {
      own = own_of(i);
      entries = entries_of(i);
    }
  }
}

/// Calls finish(i, (M x)_i) likewise for a dense matrix [n][n].
template <class T, class Finish>
__device__ void for_each_kept_dense_product(int n, const KeptRows& kept, KeptSpace<T> space,
                                            const T* x, Finish&& finish) {
  load_window(space.window, x, 0, n);
  __syncthreads();
  const RowRange rows = rows_of_block(n);
  const int lane = static_cast<int>(threadIdx.x) % kept.lanes;
  const T* const values = kept_values(space, kept);
  for (int first = rows.begin; first < rows.end; first += kCycleThreads / kept.lanes) {
    const int i = first + static_cast<int>(threadIdx.x) / kept.lanes;
    T sum{0};
    if (i < rows.end) {
      const T* const row = values + (i - rows.begin) * n;
      for (int j = lane; j < n; j += kept.lanes) sum += row[j] * space.window[j];
    }
    sum = sum_over_lanes(sum, kept.lanes);
    if (i < rows.end && lane == 0) finish(i, sum);
  }
}

}  // namespace tessera
