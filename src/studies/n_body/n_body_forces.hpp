// Forces between all pairs of particles, with several ways to protect the sums that threads share.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "src/studies/n_body/particles.hpp"
#include "src/studies/sharing/retry.hpp"

namespace tessera {

/// How the forces of a step are summed.
enum class ForceSums {
  serial,               ///< rows i, all j > i: F_i += f, F_j -= f
  basic_lock,           ///< rows cyclic over threads; a lock a particle, two sections a pair
  basic_transaction,    ///< the same with transactions
  basic_cas,            ///< the same with compare-and-swap, two a section
  blocked_lock,         ///< 16 rows at a time; F_i kept, F_j of 4 particles in one section
  blocked_transaction,  ///< the same with transactions
  blocked_cas,          ///< the same loops with compare-and-swap
  private_sums,         ///< a force array a thread, summed in parallel after
  twice                 ///< each thread owns particles and takes all j: nothing is shared
};

/// All of them, with their names in tables.
struct NamedForceSums {
  ForceSums sums;
  std::string name;
};
const std::vector<NamedForceSums>& force_sums();

/// The sums of forces with a team of threads, one way. Its scratch is made once.
class ForceSummation {
 public:
  /// @param states of the transactions, one a thread; only those ways need them
  ForceSummation(ForceSums sums, std::size_t particles, int threads,
                 std::vector<TransactionState> states);

  /// Sums the forces of all pairs; all threads of an OpenMP team call it with the same arguments,
  /// and it ends with a barrier.
  void add_up(int thread, const Particles& particles, PairForce force);

  std::span<const PlaneVector> forces() const { return forces_; }
  /// Of all threads so far.
  TransactionCounts transactions() const;
  void reset_counts();

 private:
  struct alignas(128) ParticleLock {
    std::mutex mutex;
  };
  struct alignas(128) ThreadState {
    TransactionState transactions;
    Backoff backoff;
    // Of ForceSums::private_sums.
    std::vector<PlaneVector> forces = {};
  };

  template <class Pair>
  void add_up_with(int thread, const Pair& pair);
  template <class Pair, class Add>
  void add_rows(int thread, const Pair& pair, Add&& add);
  template <class Pair, class AddOne, class AddGroup>
  void add_blocks(const Pair& pair, AddOne&& add_one, AddGroup&& add_group);
  template <class Pair>
  void add_basic(int thread, const Pair& pair);
  template <class Pair>
  void add_blocked(int thread, const Pair& pair);
  template <class Pair>
  void add_private(int thread, const Pair& pair);
  template <class Pair>
  void add_twice(int thread, const Pair& pair);

  alignas(128) std::atomic<std::size_t> next_row_{0};
  ForceSums sums_;
  int threads_;
  std::vector<PlaneVector> forces_;
  // A lock a particle, or of 4 particles.
  std::vector<ParticleLock> locks_;
  std::vector<ThreadState> states_;
};

}  // namespace tessera
