// These device functions and kernels are shared by all iterations on the GPU.
#pragma once

#include <algorithm>

#include "solvers/krylov/device_iteration.hpp"
#include "solvers/krylov/formulas.hpp"
#include "solvers/memory/reduction.cuh"
#include "solvers/preconditioner.hpp"
#include "solvers/ranks/gpu/owned_entries.cuh"

namespace tessera {

// What the kernels of all iterations on the GPU share.

using Index = std::int64_t;

// The number of loads of each vector that a thread has in flight.
inline constexpr int kInFlight = 4;

// Whether the L2 cache is to keep what is loaded or stored. It gives up first what is used once in
// an iteration, as x is, so that the others of vectors of some million entries stay there.
enum class Kept { yes, no };

// values[k] = x[entries[k]], 0 past the end.
template <Kept kept = Kept::yes, int count, class T>
__device__ void load_entries(const T* x, Index n, const Index (&entries)[count],
                             T (&values)[count]) {
  const auto load = [](const T* from) { return kept == Kept::yes ? *from : __ldcs(from); };
#pragma unroll
  for (int k = 0; k < count; ++k) values[k] = entries[k] < n ? load(x + entries[k]) : T{0};
}

// A vector in single precision times a number, which kernels read as one in double precision.
struct ScaledSingle {
  const float* entries;
  double scale;
};

template <int count>
__device__ void load_entries(const ScaledSingle& x, Index n, const Index (&entries)[count],
                             double (&values)[count]) {
  float single[count];
  load_entries(x.entries, n, entries, single);
#pragma unroll
  for (int k = 0; k < count; ++k) values[k] = x.scale * static_cast<double>(single[k]);
}

// x[entries[k]] = values[k], but nothing past the end.
template <Kept kept = Kept::yes, int count, class T>
__device__ void store_entries(const T (&values)[count], Index n, const Index (&entries)[count],
                              T* x) {
#pragma unroll
  for (int k = 0; k < count; ++k) {
    if (entries[k] >= n) continue;
    if constexpr (kept == Kept::yes) {
      x[entries[k]] = values[k];
    } else {
      __stcs(x + entries[k], values[k]);
    }
  }
}

// Calls f(i[]) for this thread's entries, `count` at a time, so that as many loads of each vector
// are in flight before the first is used; entries past the end are n.
template <int count, int threads = kReductionThreads, class F>
__device__ void for_each_group_of(Index n, F&& f) {
  const Index stride = thread_count<threads>();
  for (Index first = thread_number<threads>(); first < n; first += count * stride) {
    Index entries[count];
#pragma unroll
    for (int k = 0; k < count; ++k) entries[k] = min(n, first + k * stride);
    f(entries);
  }
}

// This thread's part of {x.y, x.z} over the entries that count; the second is summed for count = 2
// only. Reads count + 1 vectors. x is a pointer or a ScaledSingle.
template <int count, int threads, class T, class Entries, class X>
__device__ Sums<2> products_of_thread(Index n, Entries counted, X x, const T* y, const T* z) {
  Sums<2> sum;
  for_each_group_of<kInFlight, threads>(n, [&](const Index(&entries)[kInFlight]) {
    T of_x[kInFlight];
    T of_y[kInFlight];
    T of_z[kInFlight] = {};
    load_entries(x, n, entries, of_x);
    load_entries(y, n, entries, of_y);
    if constexpr (count == 2) load_entries(z, n, entries, of_z);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (!counted.has(entries[k])) continue;
      const double wide = static_cast<double>(of_x[k]);
      sum[0] += static_cast<double>(of_y[k]) * wide;
      if constexpr (count == 2) sum[1] += static_cast<double>(of_z[k]) * wide;
    }
  });
  return sum;
}

// Sums `mine` over the grid as reduce_over_grid(), and calls finish(sum). Where ranks share the
// entries, the rank's sum is left in the state instead, for finish_kernel().
template <class Entries, int threads = kReductionThreads, int count, class Finish>
__device__ void reduce_entries(const Sums<count>& mine, Sums<count>* partial, unsigned* arrived,
                               IterationState* state, const Finish& finish) {
  if constexpr (Entries::kAreAll) {
    reduce_over_grid<threads>(mine, partial, arrived, finish);
  } else {
    reduce_over_grid<threads>(mine, partial, arrived, [=](const Sums<count>& total) {
#pragma unroll
      for (int k = 0; k < count; ++k) state->of_rank[k] = total[k];
    });
  }
}

// Calls finish(sums of all ranks). One thread.
template <int count, class Finish>
__global__ void finish_kernel(const IterationState* state, Finish finish) {
  Sums<count> total;
#pragma unroll
  for (int k = 0; k < count; ++k) total[k] = state->of_all[k];
  finish(total);
}

__device__ inline bool is_first_thread() { return blockIdx.x == 0 && threadIdx.x == 0; }

// Whether p.Ap is no divisor, because it is not positive or not finite.
__device__ inline bool is_bad(double pq) { return !(pq > 0.0 && isfinite(pq)); }
__device__ inline DeviceStatus status_of_bad(double pq) {
  return isfinite(pq) ? DeviceStatus::indefinite : DeviceStatus::not_finite;
}

// The status after so many iterations, the last of which has left this r.r.
__device__ inline DeviceStatus status_after(const IterationLimits& limits, double rr,
                                            int iterations) {
  if (!isfinite(rr)) return DeviceStatus::not_finite;
  if (rr <= limits.target_rr) return DeviceStatus::converged;
  if (rr > limits.max_rr) return DeviceStatus::diverged;
  return iterations >= limits.max_iterations ? DeviceStatus::iteration_limit
                                             : DeviceStatus::running;
}

// Records the iteration and sets the status, once r.r is known.
__device__ inline void finish_iteration(IterationState* state, double rr, double energy) {
  state->records[state->iteration % kMaxIterationsPerBatch] = {rr, energy};
  ++state->iteration;
  state->status = status_after(*state, rr, state->iteration);
}

// The same for an iteration whose r.r of all ranks has come by now, if there is one.
__device__ inline void finish_what_is_left(IterationState* state, double rr) {
  if (state->unfinished == 0) return;
  finish_iteration(state, rr, state->energy);
  state->rz = rr;
  state->unfinished = 0;
}

// The scalars of this iteration by the recurrences of formulas.hpp. Without a step the state is
// told why. The answer is the same on every thread.
__device__ inline RecurrenceStep step_by_recurrence(IterationState* state) {
  const RecurrenceStep step = recurrence_step(state->rz, state->dots[0], state->previous_rz,
                                              state->alpha, state->iteration == 0);
  if (is_bad(step.pq) && is_first_thread()) state->status = status_of_bad(step.pq);
  return step;
}

// What is computed together with a new residual.
template <class T>
struct ResidualOutputs {
  T* scaled;   // d r, or r without d; may be null
  double* rz;  // r.scaled; may be null
};

// What is done with {r.r, r.scaled}.
struct ResidualEnd {
  IterationState* state;
  double* rz;  // may be null

  __device__ void operator()(const Sums<2>& total) const {
    state->rr = total[0];
    if (rz != nullptr) *rz = total[1];
  }
};

// r = b - r, and r.r goes into the state. Launch: the shape of reduction.cuh. Reads 2 vectors and
// writes 1; a diagonal is one more to read, `scaled` is one more to write. Deterministic.
template <class Entries, class T>
__global__ void __launch_bounds__(kReductionThreads)
    residual_from_product_kernel(Index n, Entries counted, const T* __restrict__ b,
                                 const T* __restrict__ d, T* __restrict__ r,
                                 ResidualOutputs<T> outputs, IterationState* state,
                                 Sums<2>* partial, unsigned* arrived) {
  Sums<2> sum;
  const Index stride = thread_count<kReductionThreads>();
  for (Index i = thread_number<kReductionThreads>(); i < n; i += stride) {
    const T value = b[i] - r[i];
    r[i] = value;
    const T scaled = d != nullptr ? value * d[i] : value;
    if (outputs.scaled != nullptr) outputs.scaled[i] = scaled;
    if (!counted.has(i)) continue;
    sum[0] += static_cast<double>(value) * static_cast<double>(value);
    sum[1] += static_cast<double>(value) * static_cast<double>(scaled);
  }
  reduce_entries<Entries>(sum, partial, arrived, state, ResidualEnd{state, outputs.rz});
}

// y = x + b y. Reads 2 vectors, writes 1.
template <class T>
__global__ void __launch_bounds__(kReductionThreads)
    aypx_kernel(Index n, const T* __restrict__ x, T b, T* __restrict__ y) {
  const Index stride = thread_count<kReductionThreads>();
  for (Index i = thread_number<kReductionThreads>(); i < n; i += stride) {
    y[i] = x[i] + b * y[i];
  }
}

}  // namespace tessera
