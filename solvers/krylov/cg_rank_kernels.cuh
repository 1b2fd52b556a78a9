// These kernels do the vector part of conjugate gradients where ranks share the vectors.
#pragma once

#include "solvers/krylov/cg_kernels.cuh"

namespace tessera {
namespace {

// Between the sums of a rank and those of all ranks there is a message, for which no kernel waits.
// So what a cooperative kernel does in one launch are several here, with all scalars in the state:
//
//     q = A p;  p.q                  -> alpha            direction_sum_kernel, or in the operator
//     r -= alpha q;  r.r, r.(d r)    -> beta, end        rank_residual_kernel
//     x += alpha p, p = d r + beta p                     rank_solution_kernel
//
// and with a general preconditioner, where x waits for the next iteration,
//
//     z = M r;  r.z, q.z             -> beta             correction_sums_kernel
//     x += alpha p, p = z + beta p                       rank_solution_kernel
//     q = A p;  p.q                  -> alpha            direction_sum_kernel, or in the operator
//     r -= alpha q;  r.r             -> end              rank_residual_kernel
//
// Operators with fused operations and no preconditioner take the kernel of cg_fused_kernels.cuh.
//
// Launches are as reduction.cuh. After each arrow one thread does what is here called an end.

// With p.q. What x was lacking it has by now; but with a general preconditioner it lacks the step
// of the last iteration still.
template <PreconditionerKind kind>
struct DirectionEnd {
  IterationState* state;

  __device__ void operator()(const Sums<2>& total) const {
    const bool runs = state->status == DeviceStatus::running;
    if (runs || kind != PreconditionerKind::general) state->pending = 0.0;
    if (!runs) return;
    state->pq = total[0];
    if (is_bad(total[0])) state->status = status_of_bad(total[0]);
  }
};

// The same with what the operator has summed. One thread.
template <PreconditionerKind kind>
__global__ void given_direction_kernel(IterationState* state) {
  Sums<2> sums;
  sums[0] = state->dots[0];
  DirectionEnd<kind>{state}(sums);
}

// With r.r of the last half of a batch by cg_fused_kernels.cuh.
struct UnfinishedEnd {
  IterationState* state;

  __device__ void operator()(const Sums<1>& total) const { finish_what_is_left(state, total[0]); }
};

// p.q. Reads 2 vectors.
template <PreconditionerKind kind, class T>
__global__ void __launch_bounds__(kReductionThreads)
    direction_sum_kernel(const IterationArguments<T> args, const OwnedEntries counted,
                         Sums<2>* partial, unsigned* arrived) {
  if (args.state->status != DeviceStatus::running) return;
  const Sums<2> sum =
      products_of_thread<1, kReductionThreads, T>(args.n, counted, args.p, args.q, nullptr);
  reduce_entries<OwnedEntries>(sum, partial, arrived, args.state, DirectionEnd<kind>{args.state});
}

// With {r.r, r.(d r)}. `pending` is left for the kernel that updates x, which goes by it.
template <PreconditionerKind kind>
struct ResidualUpdateEnd {
  IterationState* state;

  __device__ void operator()(const Sums<2>& total) const {
    if (state->status != DeviceStatus::running) return;
    const double alpha = state->rz / state->pq;
    state->pending = alpha;
    const double energy = alpha * state->rz;
    if constexpr (kind != PreconditionerKind::general) {
      const double rz = kind == PreconditionerKind::none ? total[0] : total[1];
      state->beta = rz / state->rz;
      state->rz = rz;
    }
    finish_iteration(state, total[0], energy);
  }
};

// r -= alpha q. Reads 2 vectors and writes 1, one more read with a diagonal.
template <PreconditionerKind kind, class T>
__global__ void __launch_bounds__(kReductionThreads)
    rank_residual_kernel(const IterationArguments<T> args, const OwnedEntries counted,
                         Sums<2>* partial, unsigned* arrived) {
  IterationState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  const T alpha = static_cast<T>(state->rz / state->pq);
  const Sums<2> sum = update_residual_of_thread<kind, kReductionThreads>(args, alpha, counted);
  reduce_entries<OwnedEntries>(sum, partial, arrived, state, ResidualUpdateEnd<kind>{state});
}

// With {r.z, q.z}.
template <Beta choice>
struct CorrectionEnd {
  IterationState* state;

  __device__ void operator()(const Sums<2>& total) const {
    if (state->status != DeviceStatus::running) return;
    state->beta = state->iteration == 0             ? 0.0
                  : choice == Beta::fletcher_reeves ? total[0] / state->rz
                                                    : -total[1] / state->pq;
    state->rz = total[0];
  }
};

// {r.z, q.z}; the second for Polak and Ribiere's beta only. Reads 2 or 3 vectors.
template <Beta choice, class T, class Z>
__global__ void __launch_bounds__(kReductionThreads)
    correction_sums_kernel(const IterationArguments<T> args, const OwnedEntries counted,
                           Sums<2>* partial, unsigned* arrived, const Z z) {
  if (args.state->status != DeviceStatus::running) return;
  constexpr int kCount = choice == Beta::polak_ribiere ? 2 : 1;
  const Sums<2> sum =
      products_of_thread<kCount, kReductionThreads, T>(args.n, counted, z, args.r, args.q);
  reduce_entries<OwnedEntries>(sum, partial, arrived, args.state,
                               CorrectionEnd<choice>{args.state});
}

// x += alpha p; p = z + beta p, z from `from` as update_solution(). Of the iteration that has just
// ended, also where it was the last one; with a general preconditioner of the one before, while the
// status is `running`. Reads 3 vectors and writes 2, one more read with a diagonal.
template <PreconditionerKind kind, class T, class From>
__global__ void __launch_bounds__(kReductionThreads)
    rank_solution_kernel(const IterationArguments<T> args, const From from) {
  const IterationState& state = *args.state;
  if (kind == PreconditionerKind::general && state.status != DeviceStatus::running) return;
  // NaN is no 0: what is not finite is to be seen in x as well.
  if (kind != PreconditionerKind::general && state.pending == 0.0) return;
  update_solution<kind, kReductionThreads>(args, from, static_cast<T>(state.pending),
                                           static_cast<T>(state.beta));
}

}  // namespace
}  // namespace tessera
