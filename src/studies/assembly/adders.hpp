// An adder adds a local matrix to entries that other threads may be adding to.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "src/studies/assembly/assembly_target.hpp"
#include "src/studies/sharing/additions.hpp"

namespace tessera {

/// For one thread, or where no two threads add to an entry at a time.
struct PlainAdder {
  [[nodiscard]] static Index bytes() { return 0; }
  static void add(const Destination& to, const LocalMatrix& matrix) {
    for (int e = 0; e < kLocalEntries; ++e) to.value(e) += matrix[e];
  }
};

/// Loses what another thread adds between its load and its store.
struct UnprotectedAdder {
  [[nodiscard]] static Index bytes() { return 0; }
  static void add(const Destination& to, const LocalMatrix& matrix) {
    for (int e = 0; e < kLocalEntries; ++e) add_unprotected(to.value(e), matrix[e]);
  }
};

/// On x86 a loop of compare-and-swap.
struct AtomicAdder {
  [[nodiscard]] static Index bytes() { return 0; }
  static void add(const Destination& to, const LocalMatrix& matrix) {
    for (int e = 0; e < kLocalEntries; ++e) {
      std::atomic_ref(to.value(e)).fetch_add(matrix[e], std::memory_order_relaxed);
    }
  }
};

/// A mutex for each entry of the matrix, side by side.
class EntryLockAdder {
 public:
  explicit EntryLockAdder(const AssemblyTarget& target)
      : count_(target.entries), mutexes_(std::make_unique<std::mutex[]>(count_)) {}

  [[nodiscard]] Index bytes() const { return count_ * static_cast<Index>(sizeof(std::mutex)); }
  void add(const Destination& to, const LocalMatrix& matrix) const {
    for (int e = 0; e < kLocalEntries; ++e) {
      const std::scoped_lock lock(mutexes_[to.place(e)]);
      to.value(e) += matrix[e];
    }
  }

 private:
  Index count_;
  std::unique_ptr<std::mutex[]> mutexes_;
};

/// Mutexes on cache lines of their own.
class RowMutexes {
 public:
  explicit RowMutexes(Index count) : count_(count), lines_(std::make_unique<Line[]>(count)) {}

  [[nodiscard]] Index bytes() const { return count_ * static_cast<Index>(sizeof(Line)); }
  /// Adds one row of a local matrix.
  void add_row(Index number, int i, const Destination& to, const LocalMatrix& matrix) const {
    const std::scoped_lock lock(lines_[number].mutex);
    for (int e = 3 * i; e < 3 * i + 3; ++e) to.value(e) += matrix[e];
  }

 private:
  struct alignas(64) Line {
    std::mutex mutex;
  };

  Index count_;
  std::unique_ptr<Line[]> lines_;
};

/// A mutex for each row of the matrix, held for the three additions to it.
class RowLockAdder {
 public:
  explicit RowLockAdder(const AssemblyTarget& target) : mutexes_(target.rows) {}

  [[nodiscard]] Index bytes() const { return mutexes_.bytes(); }
  void add(const Destination& to, const LocalMatrix& matrix) const {
    for (int i = 0; i < 3; ++i) mutexes_.add_row(to.row(i), i, to, matrix);
  }

 private:
  RowMutexes mutexes_;
};

/// A fixed number of mutexes; rows share them by a hash.
class StripedLockAdder {
 public:
  StripedLockAdder() : mutexes_(kStripes) {}

  [[nodiscard]] Index bytes() const { return mutexes_.bytes(); }
  void add(const Destination& to, const LocalMatrix& matrix) const {
    for (int i = 0; i < 3; ++i) mutexes_.add_row(stripe(to.row(i)), i, to, matrix);
  }

 private:
  static constexpr int kStripeBits = 10;
  static constexpr Index kStripes = Index{1} << kStripeBits;

  /// The upper bits of the product with 2^64 / golden ratio.
  static Index stripe(Index row) {
    return static_cast<Index>((static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15U) >>
                              (64U - kStripeBits));
  }

  RowMutexes mutexes_;
};

}  // namespace tessera
