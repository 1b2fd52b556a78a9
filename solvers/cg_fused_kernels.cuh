#pragma once

#include "solvers/cg_kernels.cuh"

namespace tessera {
namespace {

// The vector part of CG for operators with fused forms, which make the direction and p.Ap in their
// own pass. x follows every second iteration, from two directions at once, so that an iteration
// reads and writes 40 B a DoF here in double precision, after 32 B there.

enum class Half { first, second };

template <class T>
struct FusedIterationArguments {
  std::int64_t n;
  const T* q;      // A p
  const T* first;  // the directions of both halves
  const T* second;
  T* r;
  T* x;
  CgState* state;
  SumPair* partial;
  unsigned* arrived;
};

// r -= alpha q and, in the second half, x += alpha_1 p_1 + alpha_2 p_2. Once the status is not
// `running` it does no more than complete x. Deterministic. Reads and writes 3 vectors in the first
// half, 7 in the second.
template <Half half, class T>
__global__ void __launch_bounds__(kReductionThreads)
    fused_iteration_kernel(const FusedIterationArguments<T> args) {
  CgState* const state = args.state;
  const bool was_running = state->status == DeviceStatus::running;
  const double pending = half == Half::second ? state->pending : 0.0;
  if (!was_running && pending == 0.0) return;
  const double pq = state->pq;
  const bool divides = pq > 0.0 && isfinite(pq);
  const bool iterates = was_running && divides;
  const double rz = state->rz;
  const double alpha = iterates ? rz / pq : 0.0;
  const T step = static_cast<T>(alpha);
  SumPair sum;
  const Index stride = static_cast<Index>(gridDim.x) * kReductionThreads;
  for (Index first = static_cast<Index>(blockIdx.x) * kReductionThreads + threadIdx.x;
       first < args.n; first += kInFlight * stride) {
    Index entries[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) entries[k] = min(args.n, first + k * stride);
    T r[kInFlight];
    T q[kInFlight];
    load_entries(args.r, args.n, entries, r);
    load_entries(args.q, args.n, entries, q);
    if constexpr (half == Half::second) {
      T p1[kInFlight];
      T p2[kInFlight];
      T x[kInFlight];
      load_entries(args.first, args.n, entries, p1);
      load_entries(args.second, args.n, entries, p2);
      load_entries(args.x, args.n, entries, x);
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        x[k] += static_cast<T>(pending) * p1[k];
        if (iterates) x[k] += step * p2[k];
      }
      store_entries(x, args.n, entries, args.x);
    }
    if (!iterates) continue;
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      r[k] -= step * q[k];
      sum.first += static_cast<double>(r[k]) * static_cast<double>(r[k]);
    }
    store_entries(r, args.n, entries, args.r);
  }
  reduce_over_grid(sum, args.partial, args.arrived, [=](const SumPair& total) {
    state->pending = half == Half::first ? alpha : 0.0;
    if (!was_running) return;
    if (!divides) {
      state->status = isfinite(pq) ? DeviceStatus::indefinite : DeviceStatus::not_finite;
      return;
    }
    finish_iteration(state, total.first, alpha * rz);
    state->beta = total.first / rz;
    state->rz = total.first;
  });
}

}  // namespace
}  // namespace tessera
