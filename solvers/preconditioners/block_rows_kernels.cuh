// These kernels lay out a sparse matrix block by block, and sweep over it.
#pragma once

#include <cstdint>

#include "solvers/memory/launch.cuh"
#include "solvers/memory/warp.cuh"

namespace tessera {
namespace {

// The kernels of block_rows.cu, which alone includes this.

using Index = std::int64_t;

constexpr int kThreads = 256;

// places[rows[q]] = q, lengths[q] = length of row rows[q], lengths[n] = 0. One thread a row.
__global__ void __launch_bounds__(kThreads)
    place_rows_kernel(Index n, const std::int32_t* __restrict__ rows,
                      const Index* __restrict__ starts, std::int32_t* __restrict__ places,
                      Index* __restrict__ lengths) {
  for (Index q = thread_number<kThreads>(); q <= n; q += thread_count<kThreads>()) {
    if (q == n) {
      lengths[q] = 0;
      continue;
    }
    const std::int32_t row = rows[q];
    places[row] = static_cast<std::int32_t>(q);
    lengths[q] = starts[row + 1] - starts[row];
  }
}

// Entries of every row, those inside its block first. A thread block per block of rows, a warp a
// row; reads the matrix twice and writes it once.
template <class T>
__global__ void __launch_bounds__(kThreads)
    fill_block_rows_kernel(const Index* __restrict__ block_begin,
                           const std::int32_t* __restrict__ rows, const Index* __restrict__ starts,
                           const std::int32_t* __restrict__ from_columns,
                           const T* __restrict__ from_values,
                           const std::int32_t* __restrict__ places,
                           const Index* __restrict__ entries, std::int32_t* __restrict__ inside,
                           std::int32_t* __restrict__ columns, T* __restrict__ values,
                           T* __restrict__ inverse_diagonal) {
  const Index first = block_begin[blockIdx.x];
  const Index end = block_begin[blockIdx.x + 1];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const unsigned before = (1U << lane) - 1U;
  for (Index q = first + threadIdx.x / kWarp; q < end; q += kThreads / kWarp) {
    const std::int32_t row = rows[q];
    const Index from = starts[row];
    const int length = static_cast<int>(starts[row + 1] - from);
    int count = 0;
    for (int k = 0; k < length; k += kWarp) {
      const int place = k + lane < length ? places[from_columns[from + k + lane]] : -1;
      count += __popc(__ballot_sync(kAllLanes, place >= first && place < end));
    }
    Index in = entries[q];
    Index out = in + count;
    for (int k = 0; k < length; k += kWarp) {
      const bool is_entry = k + lane < length;
      const std::int32_t column = is_entry ? from_columns[from + k + lane] : 0;
      const int place = is_entry ? places[column] : -1;
      const bool is_inside = place >= first && place < end;
      const unsigned insides = __ballot_sync(kAllLanes, is_inside);
      const unsigned outsides = __ballot_sync(kAllLanes, is_entry && !is_inside);
      if (is_entry) {
        const Index to =
            is_inside ? in + __popc(insides & before) : out + __popc(outsides & before);
        const T value = from_values[from + k + lane];
        columns[to] = is_inside ? static_cast<std::int32_t>(place - first) : column;
        values[to] = value;
        if (column == row) inverse_diagonal[q] = T{1} / value;
      }
      in += __popc(insides);
      out += __popc(outsides);
    }
    if (lane == 0) inside[q] = count;
  }
}

template <class T>
struct Matrix {
  Index blocks;
  int max_rows;
  const Index* begin;
  const std::int32_t* rows;
  const Index* entries;
  const std::int32_t* inside;
  const std::int32_t* columns;
  const T* values;
  const T* inverse_diagonal;
};

template <class T>
struct Sweep {
  int local_sweeps;
  T damping;
  T factor;
};

// An access to x by a sweep that reads the x of the sweep before.
template <class T>
struct Frozen {
  static constexpr bool kIsZero = false;
  const T* __restrict__ from;
  T* __restrict__ to;

  __device__ T read(Index row) const { return from[row]; }
  __device__ void write(Index row, T value) const { to[row] = value; }
};

// An access to x by a sweep that starts from zero.
template <class T>
struct FromZero {
  static constexpr bool kIsZero = true;
  T* __restrict__ to;

  __device__ void write(Index row, T value) const { to[row] = value; }
};

// An access to an x that other thread blocks write meanwhile: past the first-level cache, in whole
// values.
template <class T>
struct Present {
  static constexpr bool kIsZero = false;
  volatile T* x;

  __device__ T read(Index row) const { return x[row]; }
  __device__ void write(Index row, T value) const { x[row] = value; }
};

// Calls finish(i, sum) once for every row i of a block, where sum adds sum_of_lane(q, lane) over
// the kLanes lanes of the row. All threads of the block must call it.
template <int kLanes, class T, class SumOfLane, class Finish>
__device__ void for_each_row(Index first, int rows, SumOfLane&& sum_of_lane, Finish&& finish) {
  constexpr int kGroups = kThreads / kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  // All lanes of a warp go round equally often, because they shuffle together.
  for (int base = 0; base < rows; base += kGroups) {
    const int i = base + group;
    T sum{0};
    if (i < rows) sum = sum_of_lane(first + i, lane);
    sum = sum_over_lanes<kLanes>(sum);
    if (i < rows && lane == 0) finish(i, sum);
  }
}

// One block's part of a sweep, by a thread block. `shared` has room for 4 max_rows values.
template <int kLanes, class T, class Access>
__device__ void relax_block(const Matrix<T>& a, Index block, const Sweep<T>& sweep,
                            const T* __restrict__ b, const Access& x, T* shared) {
  const Index first = a.begin[block];
  const int rows = static_cast<int>(a.begin[block + 1] - first);
  const int thread = static_cast<int>(threadIdx.x);
  T* own = shared;
  T* r = own + a.max_rows;
  T* e = r + a.max_rows;
  T* next = e + a.max_rows;

  // own = x, r = b - A x, e = damping D^-1 r
  if constexpr (Access::kIsZero) {
    for (int i = thread; i < rows; i += kThreads) {
      own[i] = T{0};
      r[i] = b[a.rows[first + i]];
      e[i] = sweep.damping * a.inverse_diagonal[first + i] * r[i];
    }
  } else {
    for (int i = thread; i < rows; i += kThreads) own[i] = x.read(a.rows[first + i]);
    __syncthreads();
    for_each_row<kLanes, T>(
        first, rows,
        [&](Index q, int lane) {
          const Index begin = a.entries[q];
          const Index middle = begin + a.inside[q];
          const Index end = a.entries[q + 1];
          T sum{0};
          for (Index k = begin + lane; k < middle; k += kLanes) {
            sum += a.values[k] * own[a.columns[k]];
          }
          for (Index k = middle + lane; k < end; k += kLanes) {
            sum += a.values[k] * x.read(a.columns[k]);
          }
          return sum;
        },
        [&](int i, T sum) {
          r[i] = b[a.rows[first + i]] - sum;
          e[i] = sweep.damping * a.inverse_diagonal[first + i] * r[i];
        });
  }
  __syncthreads();

  // e = e + damping D^-1 (r - A_kk e)
  for (int local = 1; local < sweep.local_sweeps; ++local) {
    for_each_row<kLanes, T>(
        first, rows,
        [&](Index q, int lane) {
          const Index begin = a.entries[q];
          const Index middle = begin + a.inside[q];
          T sum{0};
          for (Index k = begin + lane; k < middle; k += kLanes) {
            sum += a.values[k] * e[a.columns[k]];
          }
          return sum;
        },
        [&](int i, T sum) {
          next[i] = e[i] + sweep.damping * a.inverse_diagonal[first + i] * (r[i] - sum);
        });
    __syncthreads();
    T* last = e;
    e = next;
    next = last;
  }

  for (int i = thread; i < rows; i += kThreads) {
    x.write(a.rows[first + i], own[i] + sweep.factor * e[i]);
  }
}

template <class T>
__device__ T* shared_values() {
  extern __shared__ double shared[];
  return reinterpret_cast<T*>(shared);
}

// A sweep in which no block sees what another writes. A thread block of kThreads per block of rows,
// kLanes lanes a row; shared memory 4 max_rows values. Reads the matrix (sizeof(T) + 4 B a
// nonzero) once, its inner blocks again in every further local sweep (from the L2 cache mostly), b,
// x and 16 + sizeof(T) B a row; writes x. From zero it reads no entry outside the blocks. 2 flops
// per entry that is read. Deterministic.
template <int kLanes, class T, class Access>
__global__ void __launch_bounds__(kThreads)
    sweep_kernel(const Matrix<T> a, const Sweep<T> sweep, const T* __restrict__ b, const Access x) {
  relax_block<kLanes>(a, blockIdx.x, sweep, b, x, shared_values<T>());
}

// Sweeps in place; thread blocks take the `items` of a queue, whose counter is 0 at the start, and
// wait for none. Item i is the block of rows order[i], or i % a.blocks if `order` is null. Shape
// and costs as above. Not deterministic with more than one thread block.
template <int kLanes, class T>
__global__ void __launch_bounds__(kThreads)
    asynchronous_sweeps_kernel(const Matrix<T> a, const Sweep<T> sweep, unsigned long long items,
                               const std::int32_t* __restrict__ order, const T* __restrict__ b,
                               const Present<T> x, unsigned long long* queue) {
  __shared__ unsigned long long item;
  while (true) {
    if (threadIdx.x == 0) item = atomicAdd(queue, 1ULL);
    __syncthreads();
    if (item >= items) return;
    const Index block = order == nullptr ? static_cast<Index>(item % a.blocks) : order[item];
    relax_block<kLanes>(a, block, sweep, b, x, shared_values<T>());
    // No thread takes the next item, or writes shared memory, before all threads are done with this
    // item.
    __syncthreads();
  }
}

}  // namespace
}  // namespace tessera
