// These kernels do the vector part of conjugate gradients in one pass, for operators with fused
// operations.
#pragma once

#include "solvers/krylov/cg_kernels.cuh"

namespace tessera {
namespace {

// The vector part of CG for operators with fused operations, which give p.q and q.q with q = A p.
// It is a single pass, because r.r after the step is predicted: as r.q = p.q,
//
//     ||r - alpha q||^2 = r.r - 2 alpha r.q + alpha^2 q.q = alpha^2 q.q - r.r,   alpha = r.r / p.q.
//
// Only beta is made from the prediction. The true sum, which the pass adds up, is the r.r of the
// next iteration, so that rounding does not build up (Meurant, Computer solution of large linear
// systems, 1999, chapter 6.7, has this and other forms). x is updated every second iteration, from
// two directions at once. The pass moves 52 B per DoF and iteration in double precision, beside the
// 16 B of the operator.

enum class Half { first, second };

template <class T>
struct FusedIterationArguments {
  std::int64_t n;
  const T* q;  // A p
  T* first;    // the directions of both halves
  T* second;
  T* r;
  T* x;
  IterationState* state;
  Sums<1>* partial;
  unsigned* arrived;
};

// With r.r. That of a rank goes along with the sums of the next half: there the iteration ends,
// with dots[2], the r.r of all ranks.
template <Half half, class Entries>
struct FusedIterationEnd {
  IterationState* state;

  __device__ void operator()(const Sums<1>& total) const {
    if constexpr (!Entries::kAreAll) finish_what_is_left(state, state->dots[2]);
    const double pq = state->dots[0];
    const double rz = state->rz;
    const bool was_running = state->status == DeviceStatus::running;
    const double alpha = was_running && !is_bad(pq) ? rz / pq : 0.0;
    state->pending = half == Half::first ? alpha : 0.0;
    if (!was_running) return;
    if (is_bad(pq)) {
      state->status = status_of_bad(pq);
      return;
    }
    if constexpr (Entries::kAreAll) {
      finish_iteration(state, total[0], alpha * rz);
      state->rz = total[0];
    } else {
      state->of_rank[0] = total[0];
      state->energy = alpha * rz;
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

// r -= alpha q; first half: second = r + beta first; second half: x += alpha_1 first + alpha_2
// second, first = r + beta second. Once the status is not `running`, it only completes x.
// Deterministic. Reads and writes 5 vectors in the first half, 8 in the second.
template <Half half, class Entries, class T>
__global__ void __launch_bounds__(kReductionThreads)
    fused_iteration_kernel(const FusedIterationArguments<T> args, const Entries counted) {
  IterationState* const state = args.state;
  const FusedStart start = FusedStart::of(*state, counted);
  const double pending = half == Half::second ? state->pending : 0.0;
  // What ranks have left unfinished stays so, as blocks still read the state: later halves find the
  // same sum, and UnfinishedEnd finishes it with the batch.
  if (!start.is_running && pending == 0.0) return;
  const double pq = state->dots[0];
  const bool iterates = start.is_running && !is_bad(pq);
  const double rz = start.rz;
  const double alpha = iterates ? rz / pq : 0.0;
  // Rounding may make the prediction negative where r nearly vanishes; a NaN stays a NaN.
  const double foreseen = alpha * alpha * state->dots[1] / rz - 1.0;
  const T beta = static_cast<T>(foreseen < 0.0 ? 0.0 : foreseen);
  const T step = static_cast<T>(alpha);
  const T step_before = static_cast<T>(pending);
  Sums<1> sum;
  for_each_group_of<kInFlight>(args.n, [&](const Index(&entries)[kInFlight]) {
    T r[kInFlight];
    T q[kInFlight];
    T first[kInFlight];
    load_entries(args.r, args.n, entries, r);
    load_entries(args.q, args.n, entries, q);
    load_entries(args.first, args.n, entries, first);
    if constexpr (half == Half::second) {
      T second[kInFlight];
      T x[kInFlight];
      load_entries(args.second, args.n, entries, second);
      load_entries(args.x, args.n, entries, x);
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        x[k] += step_before * first[k];
        if (iterates) x[k] += step * second[k];
        first[k] = second[k];
      }
      store_entries(x, args.n, entries, args.x);
    }
    if (!iterates) return;
    T next[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      r[k] -= step * q[k];
      if (counted.has(entries[k])) {
        sum[0] += static_cast<double>(r[k]) * static_cast<double>(r[k]);
      }
      next[k] = r[k] + beta * first[k];
    }
    store_entries(r, args.n, entries, args.r);
    store_entries(next, args.n, entries, half == Half::first ? args.second : args.first);
  });
  reduce_over_grid(sum, args.partial, args.arrived, FusedIterationEnd<half, Entries>{state});
}

}  // namespace
}  // namespace tessera
