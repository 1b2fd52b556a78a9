// These kernels multiply by the assembled matrix on the GPU, one by short rows and one by long
// ones.
#pragma once

#include <cstdint>

#include "operators/csr/pattern.cuh"

namespace tessera {
namespace {

// Both kernels compute y_i = sum over the entries k of row i of values[k] x[columns[k]], and
// rest_i x_i where rest is not null. Every row has an entry at least. Entries and columns are the
// first to leave the L1 cache, so that x stays there. 2 flops an entry. Deterministic.

// Group g has the rows from g rows_at_once on, and kThreadsOfARow threads of a warp have one of
// them. A row beyond the last one of the matrix has no entries.
template <int rows_at_once>
struct RowGroup {
  static constexpr int kThreadsOfARow = kWarp / rows_at_once;

  // Of this thread's row.
  Index start;
  Index stop;

  __device__ Index first() const { return __shfl_sync(kAllLanes, start, 0); }
  __device__ int size() const {
    return static_cast<int>(__shfl_sync(kAllLanes, stop, kWarp - 1) - first());
  }

  __device__ static RowGroup of(Index group, Index rows, const Index* __restrict__ starts) {
    const Index i = row_of(group);
    return {starts[min(i, rows)], starts[min(i + 1, rows)]};
  }
  __device__ static Index row_of(Index group) {
    return group * rows_at_once + static_cast<int>(threadIdx.x % kWarp) / kThreadsOfARow;
  }
};

// For rows with fewer entries than keep a warp busy. The entries of a group of rows lie one after
// the other and are taken in pieces of 32 in_flight, `in_flight` a thread. Their products by x go
// to shared memory, where the threads of a row find those of their row: each adds some in order,
// then a tree adds the threads.
//
// Launch: a warp a group of rows; where there are fewer warps than groups they go from group to
// group. The next piece is on its way while one is added. Shared memory: a piece of T a warp.
template <int rows_at_once, int in_flight, class Entry, class T>
__global__ void __launch_bounds__(kThreads)
    multiply_short_rows_kernel(Index rows, const Index* __restrict__ starts,
                               const std::int32_t* __restrict__ columns,
                               const Entry* __restrict__ values, const T* __restrict__ rest,
                               const T* __restrict__ x, T* __restrict__ y) {
  using Group = RowGroup<rows_at_once>;
  constexpr int kOfARow = Group::kThreadsOfARow;
  constexpr int kPiece = kWarp * in_flight;
  __shared__ T products_of_warps[kThreads / kWarp][kPiece];
  T* products = products_of_warps[threadIdx.x / kWarp];
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const int lane_of_row = lane % kOfARow;
  const Index groups = (rows + rows_at_once - 1) / rows_at_once;
  const Index stride = thread_count<kThreads>() / kWarp;
  Index group = thread_number<kThreads>() / kWarp;
  if (group >= groups) return;

  Entry a[in_flight];
  std::int32_t j[in_flight];
  // Entries begin .. begin + last are left of the group. Threads beyond the last one load that one
  // again; what they compute is not added.
  const auto load = [&](Index begin, int last) {
    const Entry* entry = values + begin;
    const std::int32_t* column = columns + begin;
    if (last >= kPiece - 1) {
#pragma unroll
      for (int k = 0; k < in_flight; ++k) j[k] = __ldcs(column + lane + k * kWarp);
#pragma unroll
      for (int k = 0; k < in_flight; ++k) a[k] = __ldcs(entry + lane + k * kWarp);
    } else {
#pragma unroll
      for (int k = 0; k < in_flight; ++k) j[k] = __ldcs(column + min(lane + k * kWarp, last));
#pragma unroll
      for (int k = 0; k < in_flight; ++k) a[k] = __ldcs(entry + min(lane + k * kWarp, last));
    }
  };

  Group now = Group::of(group, rows, starts);
  Group next = Group::of(min(group + stride, groups - 1), rows, starts);
  Index first = now.first();
  int size = now.size();
  int piece_begin = 0;  // from the first entry of the group
  load(first, size - 1);
  T sum{0};
  while (true) {
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      products[lane + k * kWarp] = static_cast<T>(a[k]) * __ldg(x + j[k]);
    }
    const int begin = static_cast<int>(now.start - first) + lane_of_row - piece_begin;
    const int end = min(static_cast<int>(now.stop - first) - piece_begin, kPiece);
    const bool is_last_piece = piece_begin + kPiece >= size;
    piece_begin += kPiece;
    if (is_last_piece) {
      first = next.first();
      size = next.size();
      piece_begin = 0;
    }
    if (!is_last_piece || group + stride < groups)
      load(first + piece_begin, size - 1 - piece_begin);
    __syncwarp();
    // The entries of a thread are every kOfARow-th of its row, also where the row began before.
    int k = begin >= 0 ? begin : begin & (kOfARow - 1);
#pragma unroll 4
    for (; k < end; k += kOfARow) sum += products[k];
    __syncwarp();
    if (!is_last_piece) continue;
    sum = sum_over_lanes<kOfARow>(sum);
    const Index i = Group::row_of(group);
    if (lane_of_row == 0 && i < rows) {
      y[i] = rest == nullptr ? sum : sum + rest[i] * __ldg(x + i);
    }
    group += stride;
    if (group >= groups) return;
    sum = T{0};
    now = next;
    next = Group::of(min(group + stride, groups - 1), rows, starts);
  }
}

// For long rows.
//
// Launch: a warp a row. Each thread has up to `in_flight` of a row's entries on their way at a time
// and adds them in order; then the threads are added by a tree.
template <int in_flight, class Entry, class T>
__global__ void __launch_bounds__(kThreads)
    multiply_long_rows_kernel(Index rows, const Index* __restrict__ starts,
                              const std::int32_t* __restrict__ columns,
                              const Entry* __restrict__ values, const T* __restrict__ rest,
                              const T* __restrict__ x, T* __restrict__ y) {
  constexpr int kStep = kWarp * in_flight;
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  for (Index i = thread_number<kThreads>() / kWarp; i < rows;
       i += thread_count<kThreads>() / kWarp) {
    const Index start = starts[i];
    const Entry* entry = values + start + lane;
    const std::int32_t* column = columns + start + lane;
    T sum{0};
    for (auto left = static_cast<int>(starts[i + 1] - start) - lane; left > 0;
         left -= kStep, entry += kStep, column += kStep) {
      Entry a[in_flight];
      std::int32_t j[in_flight];
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        const bool has_entry = k * kWarp < left;
        a[k] = has_entry ? __ldcs(entry + k * kWarp) : Entry{0};
        j[k] = has_entry ? __ldcs(column + k * kWarp) : -1;
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (j[k] >= 0) sum += static_cast<T>(a[k]) * __ldg(x + j[k]);
      }
    }
    sum = sum_over_lanes<kWarp>(sum);
    if (lane == 0) y[i] = rest == nullptr ? sum : sum + rest[i] * __ldg(x + i);
  }
}

}  // namespace
}  // namespace tessera
