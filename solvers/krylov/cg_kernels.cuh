// These cooperative kernels do the vector part of conjugate gradients with any operator.
#pragma once

#include <algorithm>

#include "solvers/krylov/cg_on_ranks.hpp"
#include "solvers/krylov/iteration_kernels.cuh"
#include "solvers/memory/grid_sum.cuh"

namespace tessera {
namespace {

// The kernels of cg.cu and cg_on_ranks.cu, which alone include this.

// Where p.q comes from.
enum class DirectionSum { computed, given };
// Whether the operator finds all of q, or adds A p to zeros, which the update then leaves.
enum class Product { whole, added };

// Vectors and sums of one iteration.
template <class T>
struct IterationArguments {
  std::int64_t n;
  T* q;        // A p
  const T* d;  // the preconditioner's diagonal, or null
  T* p;
  T* r;
  T* x;
  IterationState* state;
  GridSumPlaces sums;
};

constexpr int kUpdateThreads = 512;
using UpdateSum = GridSum<kUpdateThreads>;

// The sum of the first value alone.
__device__ double first_sum(const Sums<2>& mine, UpdateSum& over_grid) {
  Sums<1> first;
  first[0] = mine[0];
  return over_grid(first)[0];
}

// p.q; reads 2 vectors.
template <class T>
__device__ double computed_direction_sum(const IterationArguments<T>& args, UpdateSum& over_grid) {
  return first_sum(
      products_of_thread<1, kUpdateThreads, T>(args.n, AllEntries(), args.p, args.q, nullptr),
      over_grid);
}

// {r.z, q.z} with z = M r, a pointer or a ScaledSingle; the second is summed for Polak and
// Ribiere's beta only. Reads 2 or 3 vectors.
template <Beta choice, class T, class Z>
__device__ Sums<2> correction_sums(const IterationArguments<T>& args, Z z, UpdateSum& over_grid) {
  constexpr int kCount = choice == Beta::polak_ribiere ? 2 : 1;
  const Sums<2> sum =
      products_of_thread<kCount, kUpdateThreads, T>(args.n, AllEntries(), z, args.r, args.q);
  if constexpr (kCount == 2) return over_grid(sum);
  Sums<2> first;
  first[0] = first_sum(sum, over_grid);
  return first;
}

// r -= alpha q; this thread's part of {r.r, r.(d r)} over the entries that count. Reads 2 vectors
// and writes 1, one more read with a diagonal, one more written where q is left as zeros.
template <PreconditionerKind kind, int threads, Product product = Product::whole, class T,
          class Entries>
__device__ Sums<2> update_residual_of_thread(const IterationArguments<T>& args, T alpha,
                                             Entries counted) {
  Sums<2> sum;
  for_each_group_of<kInFlight, threads>(args.n, [&](const Index(&entries)[kInFlight]) {
    T r[kInFlight];
    T q[kInFlight];
    T d[kInFlight] = {};
    load_entries(args.r, args.n, entries, r);
    load_entries(args.q, args.n, entries, q);
    if constexpr (kind == PreconditionerKind::diagonal) load_entries(args.d, args.n, entries, d);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      r[k] -= alpha * q[k];
      if (!counted.has(entries[k])) continue;
      const double wide = static_cast<double>(r[k]);
      sum[0] += wide * wide;
      if constexpr (kind == PreconditionerKind::diagonal) {
        sum[1] += wide * static_cast<double>(d[k]) * wide;
      }
    }
    store_entries(r, args.n, entries, args.r);
    if constexpr (product == Product::added) {
      constexpr T kZeros[kInFlight] = {};
      store_entries(kZeros, args.n, entries, args.q);
    }
  });
  return sum;
}

// {r.r, r.z} over the grid on each thread, of {r.r, r.(d r)} on this one; without r.z where M is
// general.
template <PreconditionerKind kind>
__device__ Sums<2> residual_sums(Sums<2> mine, UpdateSum& over_grid) {
  if constexpr (kind == PreconditionerKind::diagonal) return over_grid(mine);
  mine[0] = first_sum(mine, over_grid);
  if constexpr (kind == PreconditionerKind::none) mine[1] = mine[0];
  return mine;
}

// r -= alpha q and these sums.
template <PreconditionerKind kind, Product product, class T>
__device__ Sums<2> update_residual(const IterationArguments<T>& args, T alpha,
                                   UpdateSum& over_grid) {
  return residual_sums<kind>(
      update_residual_of_thread<kind, kUpdateThreads, product>(args, alpha, AllEntries()),
      over_grid);
}

// x += alpha p; p = z + beta p, where z is `from` times the diagonal, if there is one. Reads 3
// vectors and writes 2, one more read with a diagonal.
template <PreconditionerKind kind, int threads = kUpdateThreads, class T, class From>
__device__ void update_solution(const IterationArguments<T>& args, From from, T alpha, T beta) {
  for_each_group_of<kInFlight, threads>(args.n, [&](const Index(&entries)[kInFlight]) {
    T p[kInFlight];
    T x[kInFlight];
    T z[kInFlight];
    T d[kInFlight] = {};
    load_entries(args.p, args.n, entries, p);
    load_entries<Kept::no>(args.x, args.n, entries, x);
    load_entries(from, args.n, entries, z);
    if constexpr (kind == PreconditionerKind::diagonal) load_entries(args.d, args.n, entries, d);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      x[k] += alpha * p[k];
      p[k] = (kind == PreconditionerKind::diagonal ? d[k] * z[k] : z[k]) + beta * p[k];
    }
    store_entries<Kept::no>(x, args.n, entries, args.x);
    store_entries(p, args.n, entries, args.p);
  });
}

// Whether p.q is no divisor, in which case the state is told; the answer is the same on every
// thread.
__device__ bool ends_iteration(double pq, IterationState* state) {
  if (!is_bad(pq)) return false;
  if (is_first_thread()) state->status = status_of_bad(pq);
  return true;
}

template <DirectionSum direction, class T>
__device__ double direction_sum(const IterationArguments<T>& args, UpdateSum& over_grid) {
  if constexpr (direction == DirectionSum::given) return args.state->dots[0];
  return computed_direction_sum(args, over_grid);
}

// The vector part of an iteration. Cooperative launch, all blocks on the GPU at once; two sums over
// the grid, one with p.q given; deterministic. Does nothing once the status is not `running`.
// Scalars of the state are read before the first sum and written by one thread after the last.
// Threads read of vectors only what they have written themselves.
// 10 vectors read or written, 2 more with a diagonal, 2 less with p.q given, 1 more where q is left
// as zeros; about 10 flops an entry.
template <PreconditionerKind kind, DirectionSum direction, Product product, class T>
__global__ void __launch_bounds__(kUpdateThreads)
    iteration_kernel(const IterationArguments<T> args) {
  IterationState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  UpdateSum over_grid(args.sums);
  const double rz = state->rz;
  const double pq = direction_sum<direction>(args, over_grid);
  if (ends_iteration(pq, state)) return;
  const double alpha = rz / pq;
  const Sums<2> sums = update_residual<kind, product>(args, static_cast<T>(alpha), over_grid);
  const T beta = static_cast<T>(sums[1] / rz);
  update_solution<kind>(args, static_cast<const T*>(args.r), static_cast<T>(alpha), beta);
  if (!is_first_thread()) return;
  finish_iteration(state, sums[0], alpha * rz);
  state->rz = sums[1];
}

// The first kernel of an iteration with a preconditioner that is no diagonal, after z = M r: it
// updates p, and the x of the iteration before. Launch and rules as above; one sum; 7 vectors
// read or written, 8 with Polak and Ribiere's beta; of these z twice, which may be in single
// precision.
template <Beta choice, class T, class Z>
__global__ void __launch_bounds__(kUpdateThreads)
    direction_kernel(const IterationArguments<T> args, const Z z) {
  IterationState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  const bool is_first = state->iteration == 0;
  const double previous_rz = state->rz;
  const double previous_pq = state->pq;
  const double pending = state->pending;
  UpdateSum over_grid(args.sums);
  const Sums<2> sums = correction_sums<choice>(args, z, over_grid);
  const double beta = is_first                          ? 0.0
                      : choice == Beta::fletcher_reeves ? sums[0] / previous_rz
                                                        : -sums[1] / previous_pq;
  update_solution<PreconditionerKind::general>(args, z, static_cast<T>(pending),
                                               static_cast<T>(beta));
  if (!is_first_thread()) return;
  state->rz = sums[0];
  state->pending = 0.0;
}

// The second kernel of such an iteration, after q = A p: it updates the residual. 5 vectors read or
// written, 3 with p.q given, then one sum; 1 more where q is left as zeros.
template <DirectionSum direction, Product product, class T>
__global__ void __launch_bounds__(kUpdateThreads)
    residual_kernel(const IterationArguments<T> args) {
  IterationState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  UpdateSum over_grid(args.sums);
  const double rz = state->rz;
  const double pq = direction_sum<direction>(args, over_grid);
  if (ends_iteration(pq, state)) return;
  const double alpha = rz / pq;
  const Sums<2> sums =
      update_residual<PreconditionerKind::general, product>(args, static_cast<T>(alpha), over_grid);
  if (!is_first_thread()) return;
  state->pending = alpha;
  state->pq = pq;
  finish_iteration(state, sums[0], alpha * rz);
}

// x += pending p. Reads 2 vectors, writes 1. The caller has to reset `pending`.
template <class T>
__global__ void __launch_bounds__(kReductionThreads)
    completion_kernel(Index n, const T* __restrict__ p, T* __restrict__ x,
                      const IterationState* state) {
  const T pending = static_cast<T>(state->pending);
  if (pending == T{0}) return;
  const Index stride = thread_count<kReductionThreads>();
  for (Index i = thread_number<kReductionThreads>(); i < n; i += stride) {
    x[i] += pending * p[i];
  }
}

// The most blocks of a cooperative launch.
template <class Kernel>
int most_update_blocks(Kernel kernel, std::size_t shared_bytes) {
  return std::min(resident_blocks(kernel, kUpdateThreads, shared_bytes), GridSumPlaces::kMaxBlocks);
}

// As many as the GPU holds at once, fewer for short vectors.
template <class Kernel>
unsigned update_blocks(Kernel kernel, Index n) {
  constexpr int kMinPerThread = 2;
  return std::max(blocks_for(n, kUpdateThreads * kMinPerThread, most_update_blocks(kernel, 0)), 1U);
}

// A cooperative launch of a kernel of this file or of cg_held_kernels.cuh, which takes Z besides.
template <class T, class... Z>
struct UpdateLaunch {
  void (*kernel)(IterationArguments<T>, Z...) = nullptr;
  unsigned blocks = 0;
  std::size_t shared_bytes = 0;
};

template <class T, class... Z>
void launch_update(const UpdateLaunch<T, Z...>& update, IterationArguments<T> args, Z... z) {
  void* parameters[] = {&args, &z...};
  check_cuda(
      cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(update.kernel), update.blocks,
                                  kUpdateThreads, parameters, update.shared_bytes, device_stream()),
      "vector updates of CG");
}

}  // namespace
}  // namespace tessera
