// What is done when a hardware transaction aborts.
#pragma once

#include <cstdint>
#include <span>

#include "src/studies/sharing/additions.hpp"

namespace tessera {

/// What a transaction that aborts again and again ends in.
enum class Fallback {
  cas,   ///< after the retries, each addition by compare-and-swap, without any lock
  lock,  ///< after the retries, one lock that all transactions read
  paper  ///< waits after conflicts, else touches the entries; 1000 retries, then as cas
};

/// How hardware says why a transaction aborted; kStarted: it did not, it runs.
namespace transaction_status {
constexpr unsigned kStarted = ~0U;
constexpr unsigned kExplicit = 1U << 0U;
constexpr unsigned kMayRetry = 1U << 1U;
constexpr unsigned kConflict = 1U << 2U;
constexpr unsigned kCapacity = 1U << 3U;
}  // namespace transaction_status

/// What became of transactions. "Other" has no conflict and no capacity in its status: a lock that
/// was taken, a page fault, an interrupt.
struct TransactionCounts {
  std::int64_t wanted = 0;         // sections that were to be done
  std::int64_t tries = 0;          // transactions begun
  std::int64_t conflicts = 0;      // aborts by another thread
  std::int64_t capacity = 0;       // aborts by size
  std::int64_t others = 0;         // aborts by anything else
  std::int64_t first_aborted = 0;  // sections whose first transaction aborted
  std::int64_t fallbacks = 0;      // sections done without a transaction

  std::int64_t aborts() const { return conflicts + capacity + others; }
  TransactionCounts& operator+=(const TransactionCounts& more) {
    wanted += more.wanted;
    tries += more.tries;
    conflicts += more.conflicts;
    capacity += more.capacity;
    others += more.others;
    first_aborted += more.first_aborted;
    fallbacks += more.fallbacks;
    return *this;
  }
};

/// What one thread's transactions have in common; those of two threads share no cache line.
struct alignas(128) TransactionState {
  Fallback fallback = Fallback::cas;
  /// Transactions tried after the first one.
  int retries = 8;
  /// Of all threads; Fallback::lock needs one.
  SpinLock* lock = nullptr;
  Backoff backoff = Backoff();
  TransactionCounts counts = {};
};

namespace internal {

inline void count_abort(unsigned status, TransactionCounts& counts) {
  if ((status & transaction_status::kConflict) != 0) {
    ++counts.conflicts;
  } else if ((status & transaction_status::kCapacity) != 0) {
    ++counts.capacity;
  } else {
    ++counts.others;
  }
}

// Compare-and-swap of 0 with 0: the page and the line come to this core, the number stays.
inline void touch(double& entry) {
  const std::atomic_ref<double> shared(entry);
  double zero = 0.0;
  shared.compare_exchange_strong(zero, 0.0, std::memory_order_relaxed);
}

inline void add_each_by_cas(std::span<const Addition> additions, Backoff& backoff) {
  for (const Addition& addition : additions) add_by_cas(*addition.entry, addition.value, backoff);
}

inline void add_alone(std::span<const Addition> additions) {
  for (const Addition& addition : additions) add_unprotected(*addition.entry, addition.value);
}

}  // namespace internal

/// Does all additions in one transaction, or as the state's fallback says. Additions are atomic one
/// by one in any case, and together unless the fallback is cas or paper and was needed.
/// @tparam Hardware has begin(), which returns kStarted and then runs a transaction, or a status
///         without one; end(), which commits; abort(), which makes begin() return once more, with
///         kExplicit
template <class Hardware>
void add_in_transaction(Hardware& hardware, std::span<const Addition> additions,
                        TransactionState& state) {
  constexpr int kPaperRetries = 1000;
  const bool is_locking = state.fallback == Fallback::lock;
  const bool is_paper = state.fallback == Fallback::paper;
  const int retries = is_paper ? kPaperRetries : state.retries;
  TransactionCounts& counts = state.counts;
  ++counts.wanted;
  for (int retry = 0; retry <= retries; ++retry) {
    while (is_locking && state.lock->is_taken()) pause_core();
    ++counts.tries;
    unsigned status = hardware.begin();
    if (status == transaction_status::kStarted) {
      // Who takes the lock from now on writes what was read here, and so aborts this transaction.
      const bool is_locked = is_locking && state.lock->is_taken();
      if (!is_locked) {
        internal::add_alone(additions);
        hardware.end();
        if (retry > 0) state.backoff.reset();
        return;
      }
      hardware.abort();
      // Hardware is back at begin() now; what stands for it in a test comes here.
      status = transaction_status::kExplicit;
    }
    internal::count_abort(status, counts);
    if (retry == 0) ++counts.first_aborted;
    if (!is_paper || (status & transaction_status::kConflict) != 0) {
      state.backoff.wait();
    } else {
      for (const Addition& addition : additions) internal::touch(*addition.entry);
    }
  }
  state.backoff.reset();
  ++counts.fallbacks;
  if (is_locking) {
    state.lock->lock();
    internal::add_alone(additions);
    state.lock->unlock();
  } else {
    internal::add_each_by_cas(additions, state.backoff);
  }
}

}  // namespace tessera
