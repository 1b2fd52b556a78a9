#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

#include "solvers/cg.hpp"
#include "solvers/cg_fused_kernels.cuh"
#include "solvers/cg_kernels.cuh"
#include "solvers/cuda_check.hpp"
#include "solvers/stagnation.hpp"

namespace tessera {
namespace {

// Between two graphs the GPU waits longer than between two kernels of one: of short iterations
// several are one graph.
constexpr int kIterationsAGraph = 8;
constexpr double kSecondsABatch = 2e-3;
constexpr std::size_t kBatchesInFlight = 2;

// An instantiated graph of some iterations.
class IterationGraph {
 public:
  /// enqueue() queues `a_call` iterations.
  template <class Enqueue>
  IterationGraph(int iterations, int a_call, Enqueue&& enqueue) : iterations_(iterations) {
    check_cuda(cudaStreamBeginCapture(device_stream(), cudaStreamCaptureModeThreadLocal),
               "beginning the capture of a CG iteration");
    cudaGraph_t graph = nullptr;
    try {
      for (int i = 0; i < iterations; i += a_call) enqueue();
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
        fused_(preconditioner == nullptr ? a.fused() : nullptr),
        a_call_(fused_ != nullptr ? 2 : 1),
        r_(a.size()),
        p_(a.size()),
        second_p_(fused_ != nullptr ? a.size() : 0),
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
    IterationGraph one(a_call_, a_call_, [&] { enqueue_iterations(); });
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
    host_state_.pending = 0.0;
    host_state_.max_iterations = options_.max_iterations - report_.iterations;
    host_state_.status = DeviceStatus::running;
    copy_to_device(&host_state_, sizeof(CgState), state_.data());
  }

  void enqueue_iterations() {
    if (fused_ != nullptr) {
      enqueue_half<Half::first>(p_);
      enqueue_half<Half::second>(second_p_);
      return;
    }
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

  template <Half half>
  void enqueue_half(const DeviceVector<T>& p) {
    CgState* const state = state_.data();
    fused_->apply_dot(p, q_, state->dots);
    const FusedIterationArguments<T> args{a_.size(),      q_.data(), p_.data(), second_p_.data(),
                                          r_.data(),      x_.data(), state,     sums_.partial(),
                                          sums_.arrived()};
    fused_iteration_kernel<half>
        <<<reduction_blocks(a_.size()), kReductionThreads, 0, device_stream()>>>(args);
    check_launch("vector updates of CG");
  }

  struct Batch {
    StateCopy* copy;
    int iterations;
  };

  // Replays the iteration until the GPU, the observer or stagnation ends it. What is queued by then
  // still runs, and counts.
  SolveStatus iterate(IterationGraph& one) {
    std::deque<Batch> queue;
    int length = a_call_;
    int next_copy = 0;
    seen_ = 0;
    std::optional<SolveStatus> end;
    auto last_time = std::chrono::steady_clock::now();
    while (!end || !queue.empty()) {
      while (!end && queue.size() < kBatchesInFlight) {
        if (length >= kIterationsAGraph && !several_) {
          several_.emplace(kIterationsAGraph, a_call_, [&] { enqueue_iterations(); });
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
      length = std::clamp(static_cast<int>(wanted) / a_call_ * a_call_, a_call_,
                          std::min(2 * length, kMostIterationsABatch));
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
  const FusedForms<T, Device>* fused_;
  int a_call_;  // iterations of one call of enqueue_iterations()
  DeviceVector<T> r_, p_, second_p_, q_, z_;
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
