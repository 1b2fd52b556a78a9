// This file has the sweeps over blocks of rows on the host.
#include "solvers/preconditioners/block_rows.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "solvers/preconditioners/ordered_sweeps.hpp"

namespace tessera {
namespace {

using Index = std::int64_t;

/// The vectors of one block: x, r, e and the next e.
template <class T>
class BlockScratch {
 public:
  BlockScratch(Index rows, T* values) : rows_(rows), values_(values) {}
  T* operator[](int i) { return values_ + i * rows_; }

 private:
  Index rows_;
  T* values_;
};

/// Uninitialized scratch memory for each thread of the next parallel region. It is made before the
/// region, because an exception must not leave one.
template <class T>
class ThreadScratch {
 public:
  explicit ThreadScratch(Index rows)
      : rows_(rows),
        stride_((4 * rows + kPad - 1) / kPad * kPad),
        values_(std::make_unique_for_overwrite<T[]>(
            static_cast<std::size_t>(omp_get_max_threads() * stride_))) {}
  BlockScratch<T> of_this_thread() const {
    return {rows_, values_.get() + omp_get_thread_num() * stride_};
  }

 private:
  // Threads share no cache line, nor the line that the CPU fetches with it.
  static constexpr Index kPad = 256 / static_cast<Index>(sizeof(T));

  Index rows_;
  Index stride_;
  std::unique_ptr<T[]> values_;
};

/// The x of a synchronous sweep.
template <class T>
struct Frozen {
  const T* from;
  T* to;

  T read(Index row) const { return from[row]; }
  void write(Index row, T value) const { to[row] = value; }
};

/// The x that other threads write meanwhile.
template <class T>
struct Present {
  T* x;

  T read(Index row) const { return std::atomic_ref<T>(x[row]).load(std::memory_order_relaxed); }
  void write(Index row, T value) const {
    std::atomic_ref<T>(x[row]).store(value, std::memory_order_relaxed);
  }
};

/// sum over begin <= k < end of values[k] x(columns[k]).
template <class T, class X>
T product(const T* values, const std::int32_t* columns, Index begin, Index end, X&& x) {
  typedef T Four __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias));
  Four sums{};
  Index k = begin;
  // Four single loads make a vector sooner than the CPU's gather does.
  for (; k + 4 <= end; k += 4) {
    sums += *reinterpret_cast<const Four*>(values + k) *
            Four{x(columns[k]), x(columns[k + 1]), x(columns[k + 2]), x(columns[k + 3])};
  }
  T rest{0};
  for (; k < end; ++k) rest += values[k] * x(columns[k]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
}

/// One block's part of a sweep.
template <class T>
class BlockStep {
 public:
  BlockStep(const BlockRows<T, Host>& a, const BlockSweep& sweep, const T* b)
      : a_(a),
        local_sweeps_(sweep.local_sweeps),
        damping_(static_cast<T>(sweep.damping)),
        factor_(static_cast<T>(sweep.factor)),
        b_(b) {}

  template <class Access>
  void relax(Index block, const Access& x, BlockScratch<T>& scratch) const {
    const Index first = a_.blocks.begin[block];
    const Index n = a_.blocks.begin[block + 1] - first;
    T* own = scratch[0];
    for (Index i = 0; i < n; ++i) own[i] = x.read(row(first + i));
    T* r = scratch[1];
    for (Index i = 0; i < n; ++i) {
      const Index q = first + i;
      const Index middle = a_.entries[q] + a_.inside[q];
      r[i] = b_[row(q)] - of_block(q, own) -
             product(a_.values.get(), a_.columns.get(), middle, a_.entries[q + 1],
                     [&](Index column) { return x.read(column); });
    }
    const T* e = solve(first, n, scratch);
    for (Index i = 0; i < n; ++i) x.write(row(first + i), own[i] + factor_ * e[i]);
  }

  void relax_from_zero(Index block, T* to, BlockScratch<T>& scratch) const {
    const Index first = a_.blocks.begin[block];
    const Index n = a_.blocks.begin[block + 1] - first;
    for (Index i = 0; i < n; ++i) scratch[1][i] = b_[row(first + i)];
    const T* e = solve(first, n, scratch);
    for (Index i = 0; i < n; ++i) to[row(first + i)] = factor_ * e[i];
  }

 private:
  Index row(Index place) const { return a_.blocks.rows[place]; }

  // (A_kk x)_q
  T of_block(Index q, const T* x) const {
    return product(a_.values.get(), a_.columns.get(), a_.entries[q], a_.entries[q] + a_.inside[q],
                   [=](Index column) { return x[column]; });
  }

  // Computes e from r by the local sweeps, which start from zero.
  const T* solve(Index first, Index n, BlockScratch<T>& scratch) const {
    const T* r = scratch[1];
    T* e = scratch[2];
    T* next = scratch[3];
    const T* inverse = a_.inverse_diagonal.data() + first;
    for (Index i = 0; i < n; ++i) e[i] = damping_ * inverse[i] * r[i];
    for (int sweep = 1; sweep < local_sweeps_; ++sweep) {
      for (Index i = 0; i < n; ++i) {
        next[i] = e[i] + damping_ * inverse[i] * (r[i] - of_block(first + i, e));
      }
      std::swap(e, next);
    }
    return e;
  }

  const BlockRows<T, Host>& a_;
  int local_sweeps_;
  T damping_;
  T factor_;
  const T* b_;
};

/// Relaxes the block block_of(item) for all items of a queue; workers take the next when they are
/// free.
template <class T, class BlockOf>
void take_items(const BlockRows<T, Host>& a, const BlockSweep& sweep, const HostVector<T>& b,
                HostVector<T>& x, QueueWorkers workers, Index items, BlockOf&& block_of) {
  const BlockStep<T> step(a, sweep, b.data());
  const Present<T> access{x.data()};
  const ThreadScratch<T> memory(a.blocks.max_rows());
#pragma omp parallel num_threads(workers == QueueWorkers::one ? 1 : omp_get_max_threads())
  {
    BlockScratch<T> scratch = memory.of_this_thread();
#pragma omp for schedule(dynamic, 1)
    for (Index item = 0; item < items; ++item) step.relax(block_of(item), access, scratch);
  }
}

}  // namespace

std::int64_t RowBlocks::max_rows() const {
  std::int64_t most = 0;
  for (std::size_t k = 1; k < begin.size(); ++k) most = std::max(most, begin[k] - begin[k - 1]);
  return most;
}

template <class T>
BlockRows<T, Host> make_block_rows(const SparseRows<T>& matrix, RowBlocks&& blocks) {
  BlockRows<T, Host> a;
  a.blocks = std::move(blocks);
  const std::vector<std::int32_t>& rows = a.blocks.rows;
  const Index n = a.size();
  std::vector<std::int32_t> places(rows.size());
  a.entries.resize(rows.size() + 1);
  a.inside.resize(rows.size());
  a.inverse_diagonal.resize(rows.size());
#pragma omp parallel for schedule(static)
  for (Index q = 0; q < n; ++q) {
    places[rows[q]] = static_cast<std::int32_t>(q);
    a.entries[q + 1] = matrix.row_length(rows[q]);
  }
  for (Index q = 0; q < n; ++q) a.entries[q + 1] += a.entries[q];
  // The arrays get no values here, so that the threads that fill pages touch them first.
  a.columns = std::make_unique_for_overwrite<std::int32_t[]>(a.entries[n]);
  a.values = std::make_unique_for_overwrite<T[]>(a.entries[n]);
  // Each thread needs room for a row, which is made here because an exception must not leave the
  // region.
  Index longest = 0;
  for (Index q = 0; q < n; ++q) longest = std::max(longest, a.entries[q + 1] - a.entries[q]);
  std::vector<Index> all_columns(static_cast<std::size_t>(omp_get_max_threads() * longest));
  std::vector<T> all_values(all_columns.size());
#pragma omp parallel
  {
    Index* const columns = all_columns.data() + omp_get_thread_num() * longest;
    T* const values = all_values.data() + omp_get_thread_num() * longest;
#pragma omp for schedule(static)
    for (Index block = 0; block < a.blocks.count(); ++block) {
      const Index first = a.blocks.begin[block];
      const Index end = a.blocks.begin[block + 1];
      const auto is_inside = [&](Index column) {
        return places[column] >= first && places[column] < end;
      };
      for (Index q = first; q < end; ++q) {
        const Index length = a.entries[q + 1] - a.entries[q];
        matrix.read_row(rows[q], columns, values);
        a.inside[q] =
            static_cast<std::int32_t>(std::count_if(columns, columns + length, is_inside));
        Index in = a.entries[q];
        Index out = in + a.inside[q];
        for (Index k = 0; k < length; ++k) {
          const bool inner = is_inside(columns[k]);
          const Index to = inner ? in++ : out++;
          a.columns[to] =
              static_cast<std::int32_t>(inner ? places[columns[k]] - first : columns[k]);
          a.values[to] = values[k];
          if (columns[k] == rows[q]) a.inverse_diagonal[q] = T{1} / values[k];
        }
      }
    }
  }
  return a;
}

std::int64_t block_rows_bytes(std::int64_t rows, std::int64_t blocks, std::int64_t nonzeros,
                              std::int64_t value_bytes) {
  constexpr Index kColumn = sizeof(std::int32_t);
  constexpr Index kOffset = sizeof(Index);
  return nonzeros * (value_bytes + kColumn) + rows * (value_bytes + 2 * kColumn + kOffset) +
         (blocks + 2) * kOffset;
}

template <class T>
std::int64_t block_rows_bytes(const BlockRows<T, Host>& a) {
  return block_rows_bytes(a.size(), a.blocks.count(), a.entries.back(), sizeof(T));
}

template <class T>
void relax(const BlockRows<T, Host>& a, const BlockSweep& sweep, const HostVector<T>& b,
           const HostVector<T>& from, HostVector<T>& to) {
  const BlockStep<T> step(a, sweep, b.data());
  const Frozen<T> access{from.data(), to.data()};
  const ThreadScratch<T> memory(a.blocks.max_rows());
#pragma omp parallel
  {
    BlockScratch<T> scratch = memory.of_this_thread();
#pragma omp for schedule(static)
    for (Index block = 0; block < a.blocks.count(); ++block) step.relax(block, access, scratch);
  }
}

template <class T>
void relax_from_zero(const BlockRows<T, Host>& a, const BlockSweep& sweep, const HostVector<T>& b,
                     HostVector<T>& to) {
  const BlockStep<T> step(a, sweep, b.data());
  const ThreadScratch<T> memory(a.blocks.max_rows());
#pragma omp parallel
  {
    BlockScratch<T> scratch = memory.of_this_thread();
#pragma omp for schedule(static)
    for (Index block = 0; block < a.blocks.count(); ++block) {
      step.relax_from_zero(block, to.data(), scratch);
    }
  }
}

template <class T>
void relax_asynchronously(const BlockRows<T, Host>& a, const BlockSweep& sweep, int sweeps,
                          const HostVector<T>& b, HostVector<T>& x) {
  const Index blocks = a.blocks.count();
  take_items(a, sweep, b, x, QueueWorkers::all, sweeps * blocks,
             [blocks](Index item) { return item % blocks; });
}

template <class T>
void relax_in_order(const BlockRows<T, Host>& a, const BlockSweep& sweep,
                    const std::vector<std::int32_t>& order, QueueWorkers workers,
                    const HostVector<T>& b, HostVector<T>& x) {
  take_items(a, sweep, b, x, workers, static_cast<Index>(order.size()),
             [&order](Index item) { return order[item]; });
}

template <class T>
void relax_in_place(const BlockRows<T, Host>& a, const BlockSweep& sweep, const HostVector<T>& b,
                    HostVector<T>& x) {
  const BlockStep<T> step(a, sweep, b.data());
  const Present<T> access{x.data()};
  const ThreadScratch<T> memory(a.blocks.max_rows());
#pragma omp parallel
  {
    BlockScratch<T> scratch = memory.of_this_thread();
#pragma omp for schedule(static)
    for (Index block = 0; block < a.blocks.count(); ++block) step.relax(block, access, scratch);
  }
}

#define TESSERA_INSTANTIATE(T)                                                                     \
  template BlockRows<T, Host> make_block_rows(const SparseRows<T>&, RowBlocks&&);                  \
  template std::int64_t block_rows_bytes(const BlockRows<T, Host>&);                               \
  template void relax(const BlockRows<T, Host>&, const BlockSweep&, const HostVector<T>&,          \
                      const HostVector<T>&, HostVector<T>&);                                       \
  template void relax_from_zero(const BlockRows<T, Host>&, const BlockSweep&,                      \
                                const HostVector<T>&, HostVector<T>&);                             \
  template void relax_asynchronously(const BlockRows<T, Host>&, const BlockSweep&, int,            \
                                     const HostVector<T>&, HostVector<T>&);                        \
  template void relax_in_order(const BlockRows<T, Host>&, const BlockSweep&,                       \
                               const std::vector<std::int32_t>&, QueueWorkers,                     \
                               const HostVector<T>&, HostVector<T>&);                              \
  template void relax_in_place(const BlockRows<T, Host>&, const BlockSweep&, const HostVector<T>&, \
                               HostVector<T>&);

TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(float)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
