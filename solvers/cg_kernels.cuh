#pragma once

#include <cooperative_groups.h>

#include <algorithm>

#include "solvers/reduction.cuh"

namespace tessera {
namespace {

// The kernels of cg.cu, which alone includes this.

using Index = std::int64_t;

// Iterations of which the GPU keeps records for the host.
constexpr int kMostIterationsABatch = 128;

enum class DeviceStatus : int { running, converged, indefinite, not_finite, iteration_limit };

// What one iteration leaves for the host.
struct IterationRecord {
  double rr;      // ||r||^2 after it
  double energy;  // alpha r.z: the gain in the squared energy norm of the error
};

// The scalars of the iteration, on the GPU.
struct CgState {
  double rz;  // r.z
  double rr;  // r.r and alpha pass between the kernels of an iteration that has two
  double alpha;
  double dots[2];  // with fused forms: p.q and q.q, and alpha where x still lacks alpha p
  double pending;
  double target_rr;
  int iteration;
  int max_iterations;
  DeviceStatus status;
  IterationRecord records[kMostIterationsABatch];
};

// What the host reads after every batch: the head of CgState and the records.
static_assert(sizeof(CgState) < 4096);

enum class Diagonal { identity, given, elsewhere };

// Vectors and partial sums of one iteration.
template <class T>
struct IterationArguments {
  std::int64_t n;
  const T* q;  // A p
  const T* d;  // the preconditioner's diagonal, or null
  const T* z;  // M r, for Diagonal::elsewhere
  T* p;
  T* r;
  T* x;
  CgState* state;
  SumPair* partial;  // 3 kMostUpdateBlocks
};

constexpr int kUpdateThreads = 512;
constexpr int kMostUpdateBlocks = 2048;
constexpr int kInFlight = 4;

__device__ Index first_entry() {
  return static_cast<Index>(blockIdx.x) * kUpdateThreads + threadIdx.x;
}
__device__ Index entry_stride() { return static_cast<Index>(gridDim.x) * kUpdateThreads; }

// The sum of `mine` over all threads of a cooperative grid, the same bits on each of them: blocks
// leave their sums, and after a barrier of the grid every block adds all of them in order.
__device__ SumPair sum_over_grid(SumPair mine, SumPair* partial) {
  using BlockReduce = cub::BlockReduce<SumPair, kUpdateThreads>;
  __shared__ typename BlockReduce::TempStorage storage;
  __shared__ SumPair total;
  const auto add = [](const SumPair& a, const SumPair& b) { return a + b; };
  const SumPair of_block = BlockReduce(storage).Reduce(mine, add);
  if (threadIdx.x == 0) partial[blockIdx.x] = of_block;
  cooperative_groups::this_grid().sync();
  SumPair sum;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += kUpdateThreads) {
    sum = sum + SumPair{__ldcg(&partial[b].first), __ldcg(&partial[b].second)};
  }
  sum = BlockReduce(storage).Reduce(sum, add);
  if (threadIdx.x == 0) total = sum;
  __syncthreads();
  return total;
}

// f(i[]) for this thread's entries, kInFlight at a time, so that that many loads of each vector are
// under way before the first is used; entries past the end are n.
template <class F>
__device__ void for_each_group(Index n, F&& f) {
  for (Index first = first_entry(); first < n; first += kInFlight * entry_stride()) {
    Index entries[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) entries[k] = min(n, first + k * entry_stride());
    f(entries);
  }
}

// values[k] = x[entries[k]], 0 past the end.
template <class T>
__device__ void load_entries(const T* x, Index n, const Index (&entries)[kInFlight],
                             T (&values)[kInFlight]) {
#pragma unroll
  for (int k = 0; k < kInFlight; ++k) values[k] = entries[k] < n ? x[entries[k]] : T{0};
}

// The other way round.
template <class T>
__device__ void store_entries(const T (&values)[kInFlight], Index n,
                              const Index (&entries)[kInFlight], T* x) {
#pragma unroll
  for (int k = 0; k < kInFlight; ++k) {
    if (entries[k] < n) x[entries[k]] = values[k];
  }
}

// p.q; reads 2 vectors.
template <class T>
__device__ double direction_sum(const IterationArguments<T>& args) {
  SumPair sum;
  for_each_group(args.n, [&](const Index(&entries)[kInFlight]) {
    T p[kInFlight];
    T q[kInFlight];
    load_entries(args.p, args.n, entries, p);
    load_entries(args.q, args.n, entries, q);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      sum.first += static_cast<double>(p[k]) * static_cast<double>(q[k]);
    }
  });
  return sum_over_grid(sum, args.partial).first;
}

// r -= alpha q; {r.r, r.(d r)}. Reads 2 vectors and writes 1, one more read with a diagonal.
template <Diagonal diagonal, class T>
__device__ SumPair update_residual(const IterationArguments<T>& args, T alpha) {
  SumPair sum;
  for_each_group(args.n, [&](const Index(&entries)[kInFlight]) {
    T r[kInFlight];
    T q[kInFlight];
    T d[kInFlight] = {};
    load_entries(args.r, args.n, entries, r);
    load_entries(args.q, args.n, entries, q);
    if constexpr (diagonal == Diagonal::given) load_entries(args.d, args.n, entries, d);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      r[k] -= alpha * q[k];
      const double wide = static_cast<double>(r[k]);
      sum.first += wide * wide;
      if constexpr (diagonal == Diagonal::given) {
        sum.second += wide * static_cast<double>(d[k]) * wide;
      }
    }
    store_entries(r, args.n, entries, args.r);
  });
  sum = sum_over_grid(sum, args.partial + kMostUpdateBlocks);
  return diagonal == Diagonal::identity ? SumPair{sum.first, sum.first} : sum;
}

// x += alpha p; p = z + beta p. Reads 3 vectors and writes 2, one more read with a diagonal.
template <Diagonal diagonal, class T>
__device__ void update_solution(const IterationArguments<T>& args, T alpha, T beta) {
  const T* from = diagonal == Diagonal::elsewhere ? args.z : args.r;
  for_each_group(args.n, [&](const Index(&entries)[kInFlight]) {
    T p[kInFlight];
    T x[kInFlight];
    T z[kInFlight];
    T d[kInFlight] = {};
    load_entries(args.p, args.n, entries, p);
    load_entries(args.x, args.n, entries, x);
    load_entries(from, args.n, entries, z);
    if constexpr (diagonal == Diagonal::given) load_entries(args.d, args.n, entries, d);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      x[k] += alpha * p[k];
      p[k] = (diagonal == Diagonal::given ? d[k] * z[k] : z[k]) + beta * p[k];
    }
    store_entries(x, args.n, entries, args.x);
    store_entries(p, args.n, entries, args.p);
  });
}

// What becomes of the iteration, once r.r is known.
__device__ void finish_iteration(CgState* state, double rr, double energy) {
  state->records[state->iteration % kMostIterationsABatch] = {rr, energy};
  ++state->iteration;
  if (!isfinite(rr)) {
    state->status = DeviceStatus::not_finite;
  } else if (rr <= state->target_rr) {
    state->status = DeviceStatus::converged;
  } else if (state->iteration >= state->max_iterations) {
    state->status = DeviceStatus::iteration_limit;
  }
}

__device__ bool is_first_thread() { return blockIdx.x == 0 && threadIdx.x == 0; }

// Whether p.q cannot be divided by, which the state is then told; the same on every thread.
__device__ bool ends_iteration(double pq, CgState* state) {
  if (pq > 0.0 && isfinite(pq)) return false;
  if (is_first_thread()) {
    state->status = isfinite(pq) ? DeviceStatus::indefinite : DeviceStatus::not_finite;
  }
  return true;
}

// The vector part of an iteration. Cooperative launch, all blocks on the GPU at once; two barriers
// of the grid; deterministic. Does nothing once the status is not `running`. Scalars of the state
// are read before the first barrier and written by one thread after the last.
// 10 vectors read or written, 2 more with a diagonal; about 10 flops an entry.
template <Diagonal diagonal, class T>
__global__ void __launch_bounds__(kUpdateThreads)
    iteration_kernel(const IterationArguments<T> args) {
  CgState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  const double rz = state->rz;
  const double pq = direction_sum(args);
  if (ends_iteration(pq, state)) return;
  const double alpha = rz / pq;
  const SumPair sums = update_residual<diagonal>(args, static_cast<T>(alpha));
  update_solution<diagonal>(args, static_cast<T>(alpha), static_cast<T>(sums.second / rz));
  if (!is_first_thread()) return;
  finish_iteration(state, sums.first, alpha * rz);
  state->rz = sums.second;
}

// The same up to the residual, for preconditioners that are no diagonal.
template <class T>
__global__ void __launch_bounds__(kUpdateThreads)
    residual_kernel(const IterationArguments<T> args) {
  CgState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  const double rz = state->rz;
  const double pq = direction_sum(args);
  if (ends_iteration(pq, state)) return;
  const double alpha = rz / pq;
  const SumPair sums = update_residual<Diagonal::elsewhere>(args, static_cast<T>(alpha));
  if (!is_first_thread()) return;
  state->alpha = alpha;
  state->rr = sums.first;
}

// And from z = M r on.
template <class T>
__global__ void __launch_bounds__(kUpdateThreads)
    solution_kernel(const IterationArguments<T> args) {
  CgState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  const double rz = state->rz;
  const double alpha = state->alpha;
  SumPair sum;
  for (Index i = first_entry(); i < args.n; i += entry_stride()) {
    sum.first += static_cast<double>(args.r[i]) * static_cast<double>(args.z[i]);
  }
  const double next_rz = sum_over_grid(sum, args.partial + 2 * kMostUpdateBlocks).first;
  update_solution<Diagonal::elsewhere>(args, static_cast<T>(alpha), static_cast<T>(next_rz / rz));
  if (!is_first_thread()) return;
  finish_iteration(state, state->rr, alpha * rz);
  state->rz = next_rz;
}

// Blocks of a cooperative launch: as many as the GPU holds at once, fewer for short vectors.
template <class Kernel>
int update_blocks(Kernel kernel, Index n) {
  const Index multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
  int a_multiprocessor = 0;
  check_cuda(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_multiprocessor, kernel, kUpdateThreads, 0),
      "asking how many blocks a multiprocessor holds");
  constexpr Index kLeastPerThread = 2;
  const Index wanted =
      (n + kUpdateThreads * kLeastPerThread - 1) / (kUpdateThreads * kLeastPerThread);
  const Index most = std::min<Index>(multiprocessors * a_multiprocessor, kMostUpdateBlocks);
  return static_cast<int>(std::clamp<Index>(wanted, 1, most));
}

template <class T>
void launch_cooperatively(void (*kernel)(IterationArguments<T>), IterationArguments<T> args,
                          const char* name) {
  void* parameters[] = {&args};
  check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                         dim3(update_blocks(kernel, args.n)), dim3(kUpdateThreads),
                                         parameters, 0, device_stream()),
             name);
}

// r = b - r; p = z = d r; rr and rz of the state. Reads 2 vectors, writes 2.
template <class T>
__global__ void __launch_bounds__(kReductionThreads)
    begin_kernel(Index n, const T* __restrict__ b, const T* __restrict__ d, T* __restrict__ r,
                 T* __restrict__ p, CgState* state, SumPair* partial, unsigned* arrived) {
  SumPair sum;
  const Index stride = static_cast<Index>(gridDim.x) * kReductionThreads;
  for (Index i = static_cast<Index>(blockIdx.x) * kReductionThreads + threadIdx.x; i < n;
       i += stride) {
    const T value = b[i] - r[i];
    r[i] = value;
    const T preconditioned = d != nullptr ? value * d[i] : value;
    p[i] = preconditioned;
    sum.first += static_cast<double>(value) * static_cast<double>(value);
    sum.second += static_cast<double>(value) * static_cast<double>(preconditioned);
  }
  reduce_over_grid(sum, partial, arrived, [=](const SumPair& total) {
    state->records[0].rr = total.first;
    state->rz = total.second;
  });
}

}  // namespace
}  // namespace tessera
