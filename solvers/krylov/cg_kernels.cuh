// These cooperative kernels do the vector part of conjugate gradients with any operator.
#pragma once

#include <cooperative_groups.h>

#include <algorithm>

#include "solvers/krylov/iteration_kernels.cuh"

namespace tessera {
namespace {

// The kernels of cg.cu, which alone includes this.

// Where p.q comes from.
enum class DirectionSum { computed, given };
enum class Beta { fletcher_reeves, polak_ribiere };
// Whether the operator finds all of q, or adds A p to zeros, which the update then leaves.
enum class Product { whole, added };

// Vectors and partial sums of one iteration.
template <class T>
struct IterationArguments {
  std::int64_t n;
  T* q;        // A p
  const T* d;  // the preconditioner's diagonal, or null
  const T* z;  // M r, for a general preconditioner
  T* p;
  T* r;
  T* x;
  IterationState* state;
  Sums<2>* partial;  // 3 kMaxUpdateBlocks
};

constexpr int kUpdateThreads = 512;
constexpr int kMaxUpdateBlocks = 2048;

// The sum of `mine` over all threads of a cooperative grid, the same bits on each of them: blocks
// leave their sums, and after a barrier of the grid every block adds all of them in order.
__device__ Sums<2> sum_over_grid(Sums<2> mine, Sums<2>* partial) {
  __shared__ Sums<2> total;
  const Sums<2> of_block = sum_over_block<kUpdateThreads>(mine);
  if (threadIdx.x == 0) partial[blockIdx.x] = of_block;
  cooperative_groups::this_grid().sync();
  const Sums<2> sum = sum_of_blocks<kUpdateThreads>(partial, gridDim.x);
  if (threadIdx.x == 0) total = sum;
  __syncthreads();
  return total;
}

// p.q; reads 2 vectors.
template <class T>
__device__ double computed_direction_sum(const IterationArguments<T>& args) {
  const Sums<2> sum =
      products_of_thread<1, kUpdateThreads, T>(args.n, AllEntries(), args.p, args.q, nullptr);
  return sum_over_grid(sum, args.partial)[0];
}

// {r.z, q.z}; the second is summed for Polak and Ribiere's beta only. Reads 2 or 3 vectors.
template <Beta choice, class T>
__device__ Sums<2> correction_sums(const IterationArguments<T>& args) {
  constexpr int kCount = choice == Beta::polak_ribiere ? 2 : 1;
  const Sums<2> sum =
      products_of_thread<kCount, kUpdateThreads, T>(args.n, AllEntries(), args.z, args.r, args.q);
  return sum_over_grid(sum, args.partial + 2 * kMaxUpdateBlocks);
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

// The same sums over the grid, on each thread.
template <PreconditionerKind kind, Product product, class T>
__device__ Sums<2> update_residual(const IterationArguments<T>& args, T alpha) {
  Sums<2> sum = update_residual_of_thread<kind, kUpdateThreads, product>(args, alpha, AllEntries());
  sum = sum_over_grid(sum, args.partial + kMaxUpdateBlocks);
  if constexpr (kind == PreconditionerKind::none) sum[1] = sum[0];
  return sum;
}

// x += alpha p; p = z + beta p. Reads 3 vectors and writes 2, one more read with a diagonal.
template <PreconditionerKind kind, int threads = kUpdateThreads, class T>
__device__ void update_solution(const IterationArguments<T>& args, T alpha, T beta) {
  const T* from = kind == PreconditionerKind::general ? args.z : args.r;
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
__device__ double direction_sum(const IterationArguments<T>& args) {
  if constexpr (direction == DirectionSum::given) return args.state->dots[0];
  return computed_direction_sum(args);
}

// The vector part of an iteration. Cooperative launch, all blocks on the GPU at once; two barriers
// of the grid, one with p.q given; deterministic. Does nothing once the status is not `running`.
// Scalars of the state are read before the first barrier and written by one thread after the last.
// 10 vectors read or written, 2 more with a diagonal, 2 less with p.q given, 1 more where q is left
// as zeros; about 10 flops an entry.
template <PreconditionerKind kind, DirectionSum direction, Product product, class T>
__global__ void __launch_bounds__(kUpdateThreads)
    iteration_kernel(const IterationArguments<T> args) {
  IterationState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  const double rz = state->rz;
  const double pq = direction_sum<direction>(args);
  if (ends_iteration(pq, state)) return;
  const double alpha = rz / pq;
  const Sums<2> sums = update_residual<kind, product>(args, static_cast<T>(alpha));
  update_solution<kind>(args, static_cast<T>(alpha), static_cast<T>(sums[1] / rz));
  if (!is_first_thread()) return;
  finish_iteration(state, sums[0], alpha * rz);
  state->rz = sums[1];
}

// The first kernel of an iteration with a preconditioner that is no diagonal, after z = M r: it
// updates p, and the x of the iteration before. Launch and rules as above; one barrier; 7 vectors
// read or written, 8 with Polak and Ribiere's beta.
template <Beta choice, class T>
__global__ void __launch_bounds__(kUpdateThreads)
    direction_kernel(const IterationArguments<T> args) {
  IterationState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  const bool is_first = state->iteration == 0;
  const double previous_rz = state->rz;
  const double previous_pq = state->pq;
  const double pending = state->pending;
  const Sums<2> sums = correction_sums<choice>(args);
  const double beta = is_first                          ? 0.0
                      : choice == Beta::fletcher_reeves ? sums[0] / previous_rz
                                                        : -sums[1] / previous_pq;
  update_solution<PreconditionerKind::general>(args, static_cast<T>(pending), static_cast<T>(beta));
  if (!is_first_thread()) return;
  state->rz = sums[0];
  state->pending = 0.0;
}

// The second kernel of such an iteration, after q = A p: it updates the residual. 5 vectors read or
// written, 3 with p.q given, then one barrier; 1 more where q is left as zeros.
template <DirectionSum direction, Product product, class T>
__global__ void __launch_bounds__(kUpdateThreads)
    residual_kernel(const IterationArguments<T> args) {
  IterationState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  const double rz = state->rz;
  const double pq = direction_sum<direction>(args);
  if (ends_iteration(pq, state)) return;
  const double alpha = rz / pq;
  const Sums<2> sums =
      update_residual<PreconditionerKind::general, product>(args, static_cast<T>(alpha));
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

// Blocks of a cooperative launch: as many as the GPU holds at once, fewer for short vectors.
template <class Kernel>
unsigned update_blocks(Kernel kernel, Index n) {
  constexpr int kMinPerThread = 2;
  const int most = std::min(resident_blocks(kernel, kUpdateThreads, 0), kMaxUpdateBlocks);
  return std::max(blocks_for(n, kUpdateThreads * kMinPerThread, most), 1U);
}

template <class T>
void launch_cooperatively(void (*kernel)(IterationArguments<T>), IterationArguments<T> args,
                          const char* name) {
  const Launch as{name, update_blocks(kernel, args.n), kUpdateThreads};
  void* parameters[] = {&args};
  check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), as.blocks,
                                         as.threads, parameters, as.shared_bytes, as.stream),
             as.name);
}

}  // namespace
}  // namespace tessera
