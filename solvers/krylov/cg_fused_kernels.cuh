// These kernels do the vector part of conjugate gradients in one pass, for operators with fused
// operations.
#pragma once

#include "solvers/krylov/cg_kernels.cuh"

namespace tessera {
namespace {

// The vector part of CG for operators with fused operations, which give p.q and q.q with q = A p.
// It is a single pass, because beta is foreseen (formulas.hpp), from the true r.r, which the pass
// before has added up. x is updated every second iteration, by both steps: the direction of the
// first is what the second has gained on r. The pass moves 48 B per DoF and iteration in double
// precision, beside the 16 B of the operator.

enum class Half { first, second };

template <class T>
struct FusedIterationArguments {
  std::int64_t n;
  const T* q;  // A p
  T* p;
  T* r;
  T* x;
  IterationState* state;
  Sums<1>* partial;
  unsigned* arrived;
};

// The scalars of an iteration, of which each thread has the same bits; alpha = 0 where there is
// none.
template <class T>
struct FusedStep {
  double alpha = 0.0;
  T beta{0};

  __device__ FusedStep(const double (&dots)[3], double rz, bool is_running) {
    if (!is_running || is_bad(dots[0])) return;
    alpha = rz / dots[0];
    beta = static_cast<T>(foreseen_beta(alpha, dots[1], rz));
  }
  __device__ bool iterates() const { return alpha != 0.0; }
  __device__ double delayed() const { return delayed_step(alpha, static_cast<double>(beta)); }
};

// With r.r. That of a rank goes along with the sums of the next half: there the iteration ends,
// with dots[2], the r.r of all ranks.
template <Half half, class T, class Entries>
struct FusedIterationEnd {
  IterationState* state;

  __device__ void operator()(const Sums<1>& total) const {
    if constexpr (!Entries::kAreAll) finish_what_is_left(state, state->dots[2]);
    const double pq = state->dots[0];
    const double rz = state->rz;
    const bool was_running = state->status == DeviceStatus::running;
    const FusedStep<T> step(state->dots, rz, was_running);
    state->pending = half == Half::first ? step.delayed() : 0.0;
    if (!was_running) return;
    if (is_bad(pq)) {
      state->status = status_of_bad(pq);
      return;
    }
    if constexpr (Entries::kAreAll) {
      finish_iteration(state, total[0], step.alpha * rz);
      state->rz = total[0];
    } else {
      state->of_rank[0] = total[0];
      state->energy = step.alpha * rz;
      state->unfinished = 1;
    }
  }
};

// r.r after the iterations so far, and whether more are to come.
struct FusedStart {
  double rz;
  bool is_running;

  template <class Entries>
  __device__ static FusedStart of(const IterationState& state, const Entries& /*counted*/) {
    const bool was_running = state.status == DeviceStatus::running;
    if (Entries::kAreAll || !was_running || state.unfinished == 0) return {state.rz, was_running};
    const double rr = state.dots[2];
    return {rr, status_after(state, rr, state.iteration + 1) == DeviceStatus::running};
  }
};

// r -= alpha q, p = r + beta p. x += alpha p in the second half, with the step of the first, which
// it has left to this one; in the first only where x must not wait. Once the status is not
// `running`, it only completes x. Deterministic. Reads and writes 5 vectors in the first half, 7 in
// the second.
template <Half half, class Entries, class T>
__global__ void __launch_bounds__(kReductionThreads)
    fused_iteration_kernel(const FusedIterationArguments<T> args, const Entries counted) {
  IterationState* const state = args.state;
  const FusedStart start = FusedStart::of(*state, counted);
  const double pending = half == Half::second ? state->pending : 0.0;
  // What ranks have left unfinished stays so, as blocks still read the state: later halves find the
  // same sum, and UnfinishedEnd finishes it with the batch.
  if (!start.is_running && pending == 0.0) return;
  const FusedStep<T> step(state->dots, start.rz, start.is_running);
  const bool iterates = step.iterates();
  const bool updates_x = half == Half::second || (iterates && step.delayed() == 0.0);
  const T alpha = static_cast<T>(step.alpha);
  const T delayed = static_cast<T>(pending);
  Sums<1> sum;
  for_each_group_of<kInFlight>(args.n, [&](const Index(&entries)[kInFlight]) {
    T r[kInFlight];
    T q[kInFlight];
    T p[kInFlight];
    load_entries(args.r, args.n, entries, r);
    load_entries(args.q, args.n, entries, q);
    load_entries(args.p, args.n, entries, p);
    if (updates_x) {
      T x[kInFlight];
      load_entries(args.x, args.n, entries, x);
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        if constexpr (half == Half::second) x[k] += delayed * (p[k] - r[k]);
        if (iterates) x[k] += alpha * p[k];
      }
      store_entries(x, args.n, entries, args.x);
    }
    if (!iterates) return;
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      r[k] -= alpha * q[k];
      if (counted.has(entries[k])) {
        sum[0] += static_cast<double>(r[k]) * static_cast<double>(r[k]);
      }
      p[k] = r[k] + step.beta * p[k];
    }
    store_entries(r, args.n, entries, args.r);
    store_entries(p, args.n, entries, args.p);
  });
  reduce_over_grid(sum, args.partial, args.arrived, FusedIterationEnd<half, T, Entries>{state});
}

}  // namespace
}  // namespace tessera
