#include <cooperative_groups.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

#include "solvers/cg.hpp"
#include "solvers/cuda_check.hpp"
#include "solvers/reduction.cuh"
#include "solvers/stagnation.hpp"

namespace tessera {
namespace {

using Index = std::int64_t;

constexpr int kMostIterationsABatch = 128;
// Between two graphs the GPU waits longer than between two kernels of one: of short iterations
// several are one graph.
constexpr int kIterationsAGraph = 8;
constexpr double kSecondsABatch = 2e-3;
constexpr std::size_t kBatchesInFlight = 2;

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
  if (!(pq > 0.0) || !isfinite(pq)) {
    if (is_first_thread()) {
      state->status = isfinite(pq) ? DeviceStatus::indefinite : DeviceStatus::not_finite;
    }
    return;
  }
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
  if (!(pq > 0.0) || !isfinite(pq)) {
    if (is_first_thread()) {
      state->status = isfinite(pq) ? DeviceStatus::indefinite : DeviceStatus::not_finite;
    }
    return;
  }
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
  int device = 0;
  int multiprocessors = 0;
  int a_multiprocessor = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current GPU");
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "asking for the GPU's multiprocessors");
  check_cuda(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_multiprocessor, kernel, kUpdateThreads, 0),
      "asking how many blocks a multiprocessor holds");
  constexpr Index kLeastPerThread = 2;
  const Index wanted =
      (n + kUpdateThreads * kLeastPerThread - 1) / (kUpdateThreads * kLeastPerThread);
  const Index most =
      std::min<Index>(static_cast<Index>(multiprocessors) * a_multiprocessor, kMostUpdateBlocks);
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

// An instantiated graph of some iterations.
class IterationGraph {
 public:
  template <class Enqueue>
  IterationGraph(int iterations, Enqueue&& enqueue) : iterations_(iterations) {
    check_cuda(cudaStreamBeginCapture(device_stream(), cudaStreamCaptureModeThreadLocal),
               "beginning the capture of a CG iteration");
    cudaGraph_t graph = nullptr;
    try {
      for (int i = 0; i < iterations; ++i) enqueue();
    } catch (...) {
      cudaStreamEndCapture(device_stream(), &graph);
      cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    check_cuda(cudaStreamEndCapture(device_stream(), &graph), "capturing a CG iteration");
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(status, "instantiating the graph of a CG iteration");
  }
  ~IterationGraph() { cudaGraphExecDestroy(executable_); }
  IterationGraph(const IterationGraph&) = delete;
  IterationGraph& operator=(const IterationGraph&) = delete;

  int iterations() const { return iterations_; }
  void replay() {
    check_cuda(cudaGraphLaunch(executable_, device_stream()), "launching a CG iteration");
  }

 private:
  int iterations_;
  cudaGraphExec_t executable_ = nullptr;
};

// A copy of the state in page-locked memory, on its way from the GPU.
class StateCopy {
 public:
  StateCopy() {
    check_cuda(cudaMallocHost(&state_, sizeof(CgState)), "allocating page-locked memory");
    check_cuda(cudaEventCreateWithFlags(&arrived_, cudaEventDisableTiming), "creating an event");
  }
  ~StateCopy() {
    // A copy may be on its way where an observer threw.
    cudaStreamSynchronize(device_stream());
    cudaFreeHost(state_);
    if (arrived_ != nullptr) cudaEventDestroy(arrived_);
  }
  StateCopy(const StateCopy&) = delete;
  StateCopy& operator=(const StateCopy&) = delete;

  void enqueue(const CgState* on_device) {
    check_cuda(cudaMemcpyAsync(state_, on_device, sizeof(CgState), cudaMemcpyDeviceToHost,
                               device_stream()),
               "copying the state of CG from the GPU");
    check_cuda(cudaEventRecord(arrived_, device_stream()), "recording an event");
  }
  const CgState& wait() {
    check_cuda(cudaEventSynchronize(arrived_), "waiting for CG on the GPU");
    return *state_;
  }

 private:
  CgState* state_ = nullptr;
  cudaEvent_t arrived_ = nullptr;
};

template <class T>
class DeviceCg {
 public:
  DeviceCg(const LinearOperator<T, Device>& a, const Preconditioner<T, Device>* preconditioner,
           const DeviceVector<T>& b, DeviceVector<T>& x, const CgOptions& options)
      : a_(a),
        preconditioner_(preconditioner),
        diagonal_(preconditioner != nullptr ? preconditioner->as_diagonal() : nullptr),
        b_(b),
        x_(x),
        options_(options),
        r_(a.size()),
        p_(a.size()),
        q_(a.size()),
        z_(is_general() ? a.size() : 0),
        state_(1),
        partial_(3 * kMostUpdateBlocks) {}

  SolveReport solve() {
    double norm = begin();
    reference_ = options_.reference_norm > 0.0 ? options_.reference_norm : norm;
    scale_ = reference_ > 0.0 ? 1.0 / reference_ : 0.0;
    report_.history.push_back(norm * scale_);
    report_.true_relative_residual = norm * scale_;
    if (!std::isfinite(norm)) return ended(SolveStatus::not_finite);
    if (norm * scale_ <= options_.relative_tolerance) return ended(SolveStatus::converged);
    if (options_.max_iterations == 0) return ended(SolveStatus::iteration_limit);
    IterationGraph one(1, [&] { enqueue_iteration(); });
    for (int restarts = 0;; ++restarts) {
      set_state();
      const SolveStatus status = iterate(one);
      norm = begin();
      report_.true_relative_residual = norm * scale_;
      if (status != SolveStatus::converged) return ended(status);
      const double limit = kTrueResidualSlack * options_.relative_tolerance;
      if (report_.true_relative_residual <= limit) return ended(SolveStatus::converged);
      if (report_.iterations >= options_.max_iterations) {
        return ended(SolveStatus::iteration_limit);
      }
      if (restarts == kMostRestarts) return ended(SolveStatus::stagnated);
    }
  }

 private:
  bool is_general() const { return preconditioner_ != nullptr && diagonal_ == nullptr; }
  SolveReport ended(SolveStatus status) {
    report_.status = status;
    return std::move(report_);
  }
  const T* diagonal() const { return diagonal_ != nullptr ? diagonal_->data() : nullptr; }

  // r = b - A x, p = z = M r; returns ||r||. The state has r.z.
  double begin() {
    a_.apply(x_, r_);
    begin_kernel<<<reduction_blocks(a_.size()), kReductionThreads, 0, device_stream()>>>(
        a_.size(), b_.data(), diagonal(), r_.data(), p_.data(), state_.data(), sums_.partial(),
        sums_.arrived());
    check_launch("beginning of CG");
    copy_to_host(state_.data(), sizeof(CgState), &host_state_);
    const double rr = host_state_.records[0].rr;
    if (is_general()) {
      preconditioner_->apply(r_, z_);
      host_state_.rz = dot(r_, z_);
      check_cuda(cudaMemcpyAsync(p_.data(), z_.data(), a_.size() * sizeof(T),
                                 cudaMemcpyDeviceToDevice, device_stream()),
                 "copying a vector");
    }
    return std::sqrt(rr);
  }

  void set_state() {
    const double target = options_.relative_tolerance * reference_;
    host_state_.target_rr = target * target;
    host_state_.iteration = 0;
    host_state_.max_iterations = options_.max_iterations - report_.iterations;
    host_state_.status = DeviceStatus::running;
    copy_to_device(&host_state_, sizeof(CgState), state_.data());
  }

  void enqueue_iteration() {
    a_.apply(p_, q_);
    const IterationArguments<T> args{a_.size(), q_.data(), diagonal(),    z_.data(),      p_.data(),
                                     r_.data(), x_.data(), state_.data(), partial_.data()};
    if (is_general()) {
      launch_cooperatively(residual_kernel<T>, args, "residual update of CG");
      preconditioner_->apply(r_, z_);
      launch_cooperatively(solution_kernel<T>, args, "solution update of CG");
    } else if (diagonal_ != nullptr) {
      launch_cooperatively(iteration_kernel<Diagonal::given, T>, args, "vector updates of CG");
    } else {
      launch_cooperatively(iteration_kernel<Diagonal::identity, T>, args, "vector updates of CG");
    }
  }

  struct Batch {
    StateCopy* copy;
    int iterations;
  };

  // Replays the iteration until the GPU, the observer or stagnation ends it. What is queued by then
  // still runs, and counts.
  SolveStatus iterate(IterationGraph& one) {
    std::deque<Batch> queue;
    int length = 1;
    int next_copy = 0;
    seen_ = 0;
    std::optional<SolveStatus> end;
    auto last_time = std::chrono::steady_clock::now();
    while (!end || !queue.empty()) {
      while (!end && queue.size() < kBatchesInFlight) {
        if (length >= kIterationsAGraph && !several_) {
          several_.emplace(kIterationsAGraph, [&] { enqueue_iteration(); });
        }
        for (int left = length; left > 0;) {
          IterationGraph& graph = left >= kIterationsAGraph ? *several_ : one;
          graph.replay();
          left -= graph.iterations();
        }
        copies_[next_copy].enqueue(state_.data());
        queue.push_back({&copies_[next_copy], length});
        next_copy = (next_copy + 1) % static_cast<int>(kBatchesInFlight);
      }
      const Batch batch = queue.front();
      queue.pop_front();
      const CgState& state = batch.copy->wait();
      const auto now = std::chrono::steady_clock::now();
      const double seconds = std::chrono::duration<double>(now - last_time).count();
      last_time = now;
      const std::optional<SolveStatus> status = take(state);
      if (!end) end = status;
      const double wanted = kSecondsABatch * batch.iterations / std::max(seconds, 1e-9);
      length = std::clamp(static_cast<int>(wanted), 1, std::min(2 * length, kMostIterationsABatch));
    }
    return *end;
  }

  // Takes the iterations that are new in the state; says how the iteration ended if it has.
  std::optional<SolveStatus> take(const CgState& state) {
    for (; seen_ < state.iteration; ++seen_) {
      const IterationRecord& record = state.records[seen_ % kMostIterationsABatch];
      const double relative = std::sqrt(record.rr) * scale_;
      ++report_.iterations;
      report_.history.push_back(relative);
      // What was queued when the iteration was told to stop is no longer shown.
      if (stop_) continue;
      if (options_.observer && options_.observer(report_.iterations, relative) == Continue::no) {
        stop_ = SolveStatus::interrupted;
      } else if (monitor_.stagnates(report_.iterations, relative, record.energy)) {
        stop_ = SolveStatus::stagnated;
      }
    }
    if (stop_ && state.status != DeviceStatus::converged) return stop_;
    switch (state.status) {
      case DeviceStatus::running:
        return std::nullopt;
      case DeviceStatus::converged:
        return SolveStatus::converged;
      case DeviceStatus::indefinite:
        return SolveStatus::indefinite;
      case DeviceStatus::not_finite:
        return SolveStatus::not_finite;
      case DeviceStatus::iteration_limit:
        return SolveStatus::iteration_limit;
    }
    return std::nullopt;
  }

  const LinearOperator<T, Device>& a_;
  const Preconditioner<T, Device>* preconditioner_;
  const DeviceVector<T>* diagonal_;
  const DeviceVector<T>& b_;
  DeviceVector<T>& x_;
  const CgOptions& options_;
  DeviceVector<T> r_, p_, q_, z_;
  DeviceArray<CgState> state_;
  StateCopy copies_[kBatchesInFlight];
  std::optional<IterationGraph> several_;
  DeviceArray<SumPair> partial_;
  ReductionBuffer sums_;
  CgState host_state_{};
  SolveReport report_;
  StagnationMonitor monitor_;
  std::optional<SolveStatus> stop_;
  int seen_ = 0;
  double reference_ = 0.0;
  double scale_ = 0.0;
};

}  // namespace

template <class T>
SolveReport cg(const LinearOperator<T, Device>& a, const Preconditioner<T, Device>* preconditioner,
               const DeviceVector<T>& b, DeviceVector<T>& x, const CgOptions& options) {
  return DeviceCg<T>(a, preconditioner, b, x, options).solve();
}

template SolveReport cg(const LinearOperator<double, Device>&,
                        const Preconditioner<double, Device>*, const DeviceVector<double>&,
                        DeviceVector<double>&, const CgOptions&);
template SolveReport cg(const LinearOperator<float, Device>&, const Preconditioner<float, Device>*,
                        const DeviceVector<float>&, DeviceVector<float>&, const CgOptions&);

}  // namespace tessera
