#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <optional>
#include <type_traits>
#include <utility>

#include "solvers/cg.hpp"
#include "solvers/cuda_check.hpp"
#include "solvers/reduction.cuh"
#include "solvers/stagnation.hpp"

namespace tessera {
namespace {

using Index = std::int64_t;

constexpr int kMostIterationsABatch = 128;
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
  double rz;
  double alpha;
  double beta;
  double target_rr;
  int iteration;
  int max_iterations;
  DeviceStatus status;
  int frozen;  // x and r have their last values
  IterationRecord records[kMostIterationsABatch];
};

// What the host reads after every batch: the head of CgState and the records.
static_assert(sizeof(CgState) < 4096);

__device__ bool is_finite(double value) { return isfinite(value); }

// pq = p.q; alpha = rz / pq. Reads 2 vectors; 2 flops an entry.
template <class T>
__global__ void __launch_bounds__(kReductionThreads)
    direction_kernel(Index n, const T* __restrict__ p, const T* __restrict__ q, CgState* state,
                     SumPair* partial, unsigned* arrived) {
  if (state->status != DeviceStatus::running) {
    if (blockIdx.x == 0 && threadIdx.x == 0) state->frozen = 1;
    return;
  }
  SumPair sum;
  const Index stride = static_cast<Index>(gridDim.x) * kReductionThreads;
#pragma unroll 4
  for (Index i = static_cast<Index>(blockIdx.x) * kReductionThreads + threadIdx.x; i < n;
       i += stride) {
    sum.first += static_cast<double>(p[i]) * static_cast<double>(q[i]);
  }
  reduce_over_grid(sum, partial, arrived, [=](const SumPair& total) {
    const double pq = total.first;
    if (!is_finite(pq) || pq <= 0.0) {
      state->status = is_finite(pq) ? DeviceStatus::indefinite : DeviceStatus::not_finite;
      state->frozen = 1;
      return;
    }
    state->alpha = state->rz / pq;
  });
}

// beta and the new r.z, once both are known.
__device__ void finish_preconditioned(CgState* state, double rz) {
  state->beta = rz / state->rz;
  state->rz = rz;
}

// What becomes of the iteration, once r.r is known.
__device__ void finish_residual(CgState* state, double rr) {
  state->records[state->iteration % kMostIterationsABatch] = {rr, state->alpha * state->rz};
  ++state->iteration;
  if (!is_finite(rr)) {
    state->status = DeviceStatus::not_finite;
  } else if (rr <= state->target_rr) {
    state->status = DeviceStatus::converged;
  } else if (state->iteration >= state->max_iterations) {
    state->status = DeviceStatus::iteration_limit;
  }
}

enum class Diagonal { identity, given, elsewhere };

// r -= alpha q; rr = r.r; rz = r.(d r) with the preconditioner's diagonal d.
// Reads 2 vectors and writes 1, one more read with a diagonal; 4 to 7 flops an entry.
template <Diagonal diagonal, class T>
__global__ void __launch_bounds__(kReductionThreads)
    residual_kernel(Index n, const T* __restrict__ q, const T* __restrict__ d, T* __restrict__ r,
                    CgState* state, SumPair* partial, unsigned* arrived) {
  if (state->frozen != 0) return;
  const T alpha = static_cast<T>(state->alpha);
  SumPair sum;
  const Index stride = static_cast<Index>(gridDim.x) * kReductionThreads;
#pragma unroll 4
  for (Index i = static_cast<Index>(blockIdx.x) * kReductionThreads + threadIdx.x; i < n;
       i += stride) {
    const T value = r[i] - alpha * q[i];
    r[i] = value;
    const double wide = static_cast<double>(value);
    sum.first += wide * wide;
    if constexpr (diagonal == Diagonal::given)
      sum.second += wide * static_cast<double>(d[i]) * wide;
  }
  reduce_over_grid(sum, partial, arrived, [=](const SumPair& total) {
    finish_residual(state, total.first);
    if constexpr (diagonal == Diagonal::identity) finish_preconditioned(state, total.first);
    if constexpr (diagonal == Diagonal::given) finish_preconditioned(state, total.second);
  });
}

// rz = r.z for a preconditioner that is not a diagonal. Reads 2 vectors.
template <class T>
__global__ void __launch_bounds__(kReductionThreads)
    preconditioned_kernel(Index n, const T* __restrict__ r, const T* __restrict__ z, CgState* state,
                          SumPair* partial, unsigned* arrived) {
  if (state->frozen != 0) return;
  SumPair sum;
  const Index stride = static_cast<Index>(gridDim.x) * kReductionThreads;
  for (Index i = static_cast<Index>(blockIdx.x) * kReductionThreads + threadIdx.x; i < n;
       i += stride) {
    sum.first += static_cast<double>(r[i]) * static_cast<double>(z[i]);
  }
  reduce_over_grid(sum, partial, arrived,
                   [=](const SumPair& total) { finish_preconditioned(state, total.first); });
}

// x += alpha p; p = z + beta p, with z = d r, or r itself. Reads 3 vectors and writes 2, one more
// read with a diagonal; 4 or 5 flops an entry.
template <Diagonal diagonal, class T>
__global__ void __launch_bounds__(kReductionThreads)
    solution_kernel(Index n, const T* __restrict__ z, const T* __restrict__ d, T* __restrict__ x,
                    T* __restrict__ p, const CgState* state) {
  if (state->frozen != 0) return;
  const T alpha = static_cast<T>(state->alpha);
  const T beta = static_cast<T>(state->beta);
  const Index stride = static_cast<Index>(gridDim.x) * kReductionThreads;
#pragma unroll 4
  for (Index i = static_cast<Index>(blockIdx.x) * kReductionThreads + threadIdx.x; i < n;
       i += stride) {
    const T direction = p[i];
    x[i] += alpha * direction;
    T preconditioned = z[i];
    if constexpr (diagonal == Diagonal::given) preconditioned *= d[i];
    p[i] = preconditioned + beta * direction;
  }
}

// r = b - r; p = z = d r; rr and rz of the state. Reads 2 vectors, writes 2.
template <Diagonal diagonal, class T>
__global__ void __launch_bounds__(kReductionThreads)
    begin_kernel(Index n, const T* __restrict__ b, const T* __restrict__ d, T* __restrict__ r,
                 T* __restrict__ p, CgState* state, SumPair* partial, unsigned* arrived) {
  SumPair sum;
  const Index stride = static_cast<Index>(gridDim.x) * kReductionThreads;
  for (Index i = static_cast<Index>(blockIdx.x) * kReductionThreads + threadIdx.x; i < n;
       i += stride) {
    const T value = b[i] - r[i];
    r[i] = value;
    const T preconditioned = diagonal == Diagonal::given ? value * d[i] : value;
    p[i] = preconditioned;
    sum.first += static_cast<double>(value) * static_cast<double>(value);
    sum.second += static_cast<double>(value) * static_cast<double>(preconditioned);
  }
  reduce_over_grid(sum, partial, arrived, [=](const SumPair& total) {
    state->records[0].rr = total.first;
    state->rz = total.second;
  });
}

// An instantiated graph of one iteration.
class IterationGraph {
 public:
  template <class Enqueue>
  explicit IterationGraph(Enqueue&& enqueue) {
    check_cuda(cudaStreamBeginCapture(device_stream(), cudaStreamCaptureModeThreadLocal),
               "beginning the capture of a CG iteration");
    cudaGraph_t graph = nullptr;
    try {
      enqueue();
    } catch (...) {
      cudaStreamEndCapture(device_stream(), &graph);
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

  void replay() {
    check_cuda(cudaGraphLaunch(executable_, device_stream()), "launching a CG iteration");
  }

 private:
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
        state_(1) {}

  SolveReport solve() {
    double norm = begin();
    reference_ = options_.reference_norm > 0.0 ? options_.reference_norm : norm;
    scale_ = reference_ > 0.0 ? 1.0 / reference_ : 0.0;
    report_.history.push_back(norm * scale_);
    report_.true_relative_residual = norm * scale_;
    if (!std::isfinite(norm)) return ended(SolveStatus::not_finite);
    if (norm * scale_ <= options_.relative_tolerance) return ended(SolveStatus::converged);
    if (options_.max_iterations == 0) return ended(SolveStatus::iteration_limit);
    IterationGraph graph([&] { enqueue_iteration(); });
    for (int restarts = 0;; ++restarts) {
      set_state();
      const SolveStatus status = iterate(graph);
      // Copies of the state may still be on their way.
      synchronize_device();
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
  int blocks() const { return reduction_blocks(a_.size()); }

  // f(kernel's Diagonal) with the kind of preconditioner as a constant.
  template <class F>
  void with_diagonal(F&& f) {
    if (is_general()) {
      f(std::integral_constant<Diagonal, Diagonal::elsewhere>());
    } else if (diagonal_ != nullptr) {
      f(std::integral_constant<Diagonal, Diagonal::given>());
    } else {
      f(std::integral_constant<Diagonal, Diagonal::identity>());
    }
  }
  const T* diagonal() const { return diagonal_ != nullptr ? diagonal_->data() : nullptr; }

  // r = b - A x, p = z = M r; returns ||r||. The state has r.z.
  double begin() {
    a_.apply(x_, r_);
    with_diagonal([&](auto kind) {
      begin_kernel<kind.value><<<blocks(), kReductionThreads, 0, device_stream()>>>(
          a_.size(), b_.data(), diagonal(), r_.data(), p_.data(), state_.data(), sums_.partial(),
          sums_.arrived());
      check_launch("beginning of CG");
    });
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
    host_state_.frozen = 0;
    copy_to_device(&host_state_, sizeof(CgState), state_.data());
  }

  void enqueue_iteration() {
    const Index n = a_.size();
    a_.apply(p_, q_);
    direction_kernel<<<blocks(), kReductionThreads, 0, device_stream()>>>(
        n, p_.data(), q_.data(), state_.data(), sums_.partial(), sums_.arrived());
    check_launch("p.Ap of CG");
    with_diagonal([&](auto kind) {
      constexpr Diagonal kKind = kind.value;
      residual_kernel<kKind><<<blocks(), kReductionThreads, 0, device_stream()>>>(
          n, q_.data(), diagonal(), r_.data(), state_.data(), sums_.partial(), sums_.arrived());
      check_launch("residual update of CG");
      const T* z = r_.data();
      if constexpr (kKind == Diagonal::elsewhere) {
        preconditioner_->apply(r_, z_);
        z = z_.data();
        preconditioned_kernel<<<blocks(), kReductionThreads, 0, device_stream()>>>(
            n, r_.data(), z, state_.data(), sums_.partial(), sums_.arrived());
        check_launch("r.z of CG");
      }
      solution_kernel<kKind><<<blocks(), kReductionThreads, 0, device_stream()>>>(
          n, z, diagonal(), x_.data(), p_.data(), state_.data());
      check_launch("solution update of CG");
    });
  }

  struct Batch {
    StateCopy* copy;
    int iterations;
  };

  // Replays the iteration until the GPU, the observer or stagnation ends it.
  SolveStatus iterate(IterationGraph& graph) {
    StateCopy copies[kBatchesInFlight];
    std::deque<Batch> queue;
    int length = 1;
    int next_copy = 0;
    seen_ = 0;
    auto last_time = std::chrono::steady_clock::now();
    for (;;) {
      while (queue.size() < kBatchesInFlight) {
        for (int i = 0; i < length; ++i) graph.replay();
        copies[next_copy].enqueue(state_.data());
        queue.push_back({&copies[next_copy], length});
        next_copy = (next_copy + 1) % static_cast<int>(kBatchesInFlight);
      }
      const Batch batch = queue.front();
      queue.pop_front();
      const CgState& state = batch.copy->wait();
      const auto now = std::chrono::steady_clock::now();
      const double seconds = std::chrono::duration<double>(now - last_time).count();
      last_time = now;
      if (const auto status = take(state)) return *status;
      const double wanted = kSecondsABatch * batch.iterations / std::max(seconds, 1e-9);
      length = std::clamp(static_cast<int>(wanted), 1, std::min(2 * length, kMostIterationsABatch));
    }
  }

  // Takes the iterations that are new in the state; says how the iteration ended if it has.
  std::optional<SolveStatus> take(const CgState& state) {
    for (; seen_ < state.iteration; ++seen_) {
      const IterationRecord& record = state.records[seen_ % kMostIterationsABatch];
      const double relative = std::sqrt(record.rr) * scale_;
      ++report_.iterations;
      report_.history.push_back(relative);
      if (options_.observer && options_.observer(report_.iterations, relative) == Continue::no) {
        stop_ = SolveStatus::interrupted;
      }
      if (monitor_.stagnates(report_.iterations, relative, record.energy) && !stop_) {
        stop_ = SolveStatus::stagnated;
      }
    }
    switch (state.status) {
      case DeviceStatus::running:
        return std::exchange(stop_, std::nullopt);
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
