// This file sums forces between particles, in parallel and protected.
#include "src/studies/n_body/n_body_forces.hpp"

#include <algorithm>
#include <array>

#include "src/studies/n_body/pair_forces.hpp"
#include "src/studies/sharing/hardware_transactions.hpp"

namespace tessera {
namespace {

constexpr std::size_t kRowsAtATime = 16;
constexpr std::size_t kGroup = 4;

struct Gravity {
  const double* x;
  const double* y;
  const double* mass;

  PlaneVector operator()(std::size_t i, std::size_t j) const {
    const double dx = x[j] - x[i];
    const double dy = y[j] - y[i];
    const double factor = attraction(mass[i], mass[j], dx * dx + dy * dy);
    return {factor * dx, factor * dy};
  }
};

struct Counting {
  PlaneVector operator()(std::size_t i, std::size_t j) const { return {counted(i, j), 0.0}; }
};

void add(PlaneVector& sum, const PlaneVector& force) {
  sum.x += force.x;
  sum.y += force.y;
}

PlaneVector opposite(const PlaneVector& force) { return {-force.x, -force.y}; }

void add_cas(PlaneVector& sum, const PlaneVector& force, Backoff& backoff) {
  add_by_cas(sum.x, force.x, backoff);
  add_by_cas(sum.y, force.y, backoff);
}

bool is_blocked(ForceSums sums) {
  return sums == ForceSums::blocked_lock || sums == ForceSums::blocked_transaction ||
         sums == ForceSums::blocked_cas;
}

}  // namespace

const std::vector<NamedForceSums>& force_sums() {
  static const std::vector<NamedForceSums> all = {
      {ForceSums::serial, "serial"},
      {ForceSums::basic_lock, "basic-lock"},
      {ForceSums::basic_transaction, "basic-transaction"},
      {ForceSums::basic_cas, "basic-cas"},
      {ForceSums::blocked_lock, "blocked-lock"},
      {ForceSums::blocked_transaction, "blocked-transaction"},
      {ForceSums::blocked_cas, "blocked-cas"},
      {ForceSums::private_sums, "private"},
      {ForceSums::twice, "twice"}};
  return all;
}

ForceSummation::ForceSummation(ForceSums sums, std::size_t particles, int threads,
                               std::vector<TransactionState> states)
    : sums_(sums), threads_(threads), forces_(particles), locks_(particles) {
  for (int thread = 0; thread < threads; ++thread) {
    states_.push_back({.transactions = states[thread], .backoff = states[thread].backoff});
    if (sums == ForceSums::private_sums) states_.back().forces.resize(particles);
  }
}

TransactionCounts ForceSummation::transactions() const {
  TransactionCounts counts;
  for (const ThreadState& state : states_) counts += state.transactions.counts;
  return counts;
}

void ForceSummation::reset_counts() {
  for (ThreadState& state : states_) state.transactions.counts = {};
}

void ForceSummation::add_up(int thread, const Particles& particles, PairForce force) {
  if (thread == 0) next_row_ = 0;
#pragma omp for schedule(static)
  for (std::size_t i = 0; i < forces_.size(); ++i) forces_[i] = {};
  if (force == PairForce::gravity) {
    add_up_with(thread, Gravity{particles.x.data(), particles.y.data(), particles.mass.data()});
  } else {
    add_up_with(thread, Counting());
  }
#pragma omp barrier
}

template <class Pair>
void ForceSummation::add_up_with(int thread, const Pair& pair) {
  if (is_blocked(sums_)) {
    add_blocked(thread, pair);
  } else if (sums_ == ForceSums::private_sums) {
    add_private(thread, pair);
  } else if (sums_ == ForceSums::twice) {
    add_twice(thread, pair);
  } else {
    add_basic(thread, pair);
  }
}

// Rows cyclic over threads, so that long and short ones are shared evenly.
template <class Pair, class Add>
void ForceSummation::add_rows(int thread, const Pair& pair, Add&& add) {
  const std::size_t n = forces_.size();
  for (std::size_t i = thread; i < n; i += threads_) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const PlaneVector force = pair(i, j);
      add(i, force);
      add(j, opposite(force));
    }
  }
}

template <class Pair>
void ForceSummation::add_basic(int thread, const Pair& pair) {
  ThreadState& state = states_[thread];
  switch (sums_) {
    case ForceSums::basic_lock:
      return add_rows(thread, pair, [&](std::size_t i, const PlaneVector& force) {
        const std::lock_guard held(locks_[i].mutex);
        add(forces_[i], force);
      });
    case ForceSums::basic_transaction:
      return add_rows(thread, pair, [&](std::size_t i, const PlaneVector& force) {
        const std::array<Addition, 2> both = {{{&forces_[i].x, force.x}, {&forces_[i].y, force.y}}};
        add_together(both, state.transactions);
      });
    case ForceSums::basic_cas:
      return add_rows(thread, pair, [&](std::size_t i, const PlaneVector& force) {
        add_cas(forces_[i], force, state.backoff);
      });
    default:
      return add_rows(thread, pair,
                      [&](std::size_t i, const PlaneVector& force) { add(forces_[i], force); });
  }
}

// @param add_one adds the force on one particle @param add_group those on the particles
//        first .. first + count - 1, which are of one group
template <class Pair, class AddOne, class AddGroup>
void ForceSummation::add_blocks(const Pair& pair, AddOne&& add_one, AddGroup&& add_group) {
  const std::size_t n = forces_.size();
  for (std::size_t rows = next_row_.fetch_add(kRowsAtATime); rows < n;
       rows = next_row_.fetch_add(kRowsAtATime)) {
    for (std::size_t i = rows; i < std::min(rows + kRowsAtATime, n); ++i) {
      PlaneVector own;
      for (std::size_t first = i + 1; first < n;) {
        const std::size_t end = std::min((first / kGroup + 1) * kGroup, n);
        std::array<PlaneVector, kGroup> forces;
        for (std::size_t j = first; j < end; ++j) {
          const PlaneVector force = pair(i, j);
          add(own, force);
          forces[j - first] = opposite(force);
        }
        add_group(first, std::span<const PlaneVector>(forces.data(), end - first));
        first = end;
      }
      add_one(i, own);
    }
  }
}

template <class Pair>
void ForceSummation::add_blocked(int thread, const Pair& pair) {
  ThreadState& state = states_[thread];
  const auto one_as_group = [](auto& add_group) {
    return [&add_group](std::size_t i, const PlaneVector& force) {
      add_group(i, std::span<const PlaneVector>(&force, 1));
    };
  };
  if (sums_ == ForceSums::blocked_lock) {
    const auto add_group = [&](std::size_t first, std::span<const PlaneVector> forces) {
      const std::lock_guard held(locks_[first / kGroup].mutex);
      for (std::size_t k = 0; k < forces.size(); ++k) add(forces_[first + k], forces[k]);
    };
    add_blocks(pair, one_as_group(add_group), add_group);
  } else if (sums_ == ForceSums::blocked_transaction) {
    const auto add_group = [&](std::size_t first, std::span<const PlaneVector> forces) {
      std::array<Addition, 2 * kGroup> additions{};
      for (std::size_t k = 0; k < forces.size(); ++k) {
        additions[2 * k] = {&forces_[first + k].x, forces[k].x};
        additions[2 * k + 1] = {&forces_[first + k].y, forces[k].y};
      }
      add_together({additions.data(), 2 * forces.size()}, state.transactions);
    };
    add_blocks(pair, one_as_group(add_group), add_group);
  } else {
    const auto add_group = [&](std::size_t first, std::span<const PlaneVector> forces) {
      for (std::size_t k = 0; k < forces.size(); ++k) {
        add_cas(forces_[first + k], forces[k], state.backoff);
      }
    };
    add_blocks(pair, one_as_group(add_group), add_group);
  }
}

template <class Pair>
void ForceSummation::add_private(int thread, const Pair& pair) {
  std::vector<PlaneVector>& own = states_[thread].forces;
  own.assign(own.size(), {});
  add_rows(thread, pair, [&own](std::size_t i, const PlaneVector& force) { add(own[i], force); });
#pragma omp barrier
#pragma omp for schedule(static)
  for (std::size_t i = 0; i < forces_.size(); ++i) {
    for (const ThreadState& state : states_) add(forces_[i], state.forces[i]);
  }
}

template <class Pair>
void ForceSummation::add_twice(int /*thread*/, const Pair& pair) {
  const std::size_t n = forces_.size();
#pragma omp for schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    double x = 0.0;
    double y = 0.0;
#pragma omp simd reduction(+ : x, y)
    for (std::size_t j = 0; j < n; ++j) {
      const PlaneVector force = pair(i, j);
      x += force.x;
      y += force.y;
    }
    forces_[i] = {x, y};
  }
}

}  // namespace tessera
