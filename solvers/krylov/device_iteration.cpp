// This file runs an iteration on the GPU to its end, batch by batch of replayed graphs.
#include "solvers/krylov/device_iteration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "solvers/krylov/iteration_graph.hpp"
#include "solvers/krylov/stagnation.hpp"
#include "solvers/ranks/gpu/device_carrier.hpp"

namespace tessera {
namespace {

// The GPU waits longer between two graphs than between two kernels of one graph, so several short
// iterations are one graph.
constexpr int kIterationsPerGraph = 8;
constexpr double kSecondsPerBatch = 2e-3;
// What the host takes to see one batch and to queue the next is little beside this.
constexpr double kMinSecondsPerBatch = 1e-4;
// Other ranks are given up after so many seconds, and so many times what the last batch took.
constexpr double kPatienceSeconds = 60.0;
constexpr double kPatienceBatches = 100.0;

class DeviceSolve {
 public:
  DeviceSolve(DeviceIteration& iteration, RecordedIteration& recorded, const SolveOptions& options)
      : iteration_(iteration),
        recorded_(recorded),
        options_(options),
        shared_(iteration.layout().shared),
        records_(shared_ == nullptr || shared_->carrier()->can_be_captured()),
        a_call_(iteration.iterations_per_call()),
        replacement_interval_((options.replacement_interval + a_call_ - 1) / a_call_ * a_call_) {}

  SolveReport solve() {
    zero_on_device(iteration_.state(), sizeof(IterationState));
    const double norm = residual_norm();
    reference_ = options_.reference_norm > 0.0 ? options_.reference_norm : norm;
    scale_ = reference_ > 0.0 ? 1.0 / reference_ : 0.0;
    report_.reference_norm = reference_;
    target_ = options_.relative_tolerance;
    max_rr_ = iteration_.max_growth() * iteration_.max_growth() * norm * norm;
    report_.history.push_back(norm * scale_);
    report_.true_relative_residual = norm * scale_;
    if (!std::isfinite(norm)) return ended(SolveStatus::not_finite);
    if (norm * scale_ <= options_.relative_tolerance) return ended(SolveStatus::converged);
    if (options_.max_iterations == 0) return ended(SolveStatus::iteration_limit);
    for (int restarts = 0;; ++restarts) {
      set_state();
      iteration_.start();
      const SolveStatus status = iterate();
      const bool broken_down = status == SolveStatus::indefinite && !iteration_.is_indefinite();
      report_.true_relative_residual = residual_norm() * scale_;
      if (status != SolveStatus::converged && !broken_down) return ended(status);
      if (report_.true_relative_residual <= options_.relative_tolerance) {
        return ended(SolveStatus::converged);
      }
      if (report_.iterations >= options_.max_iterations) {
        return ended(SolveStatus::iteration_limit);
      }
      if (restarts == kMaxRestarts) return ended(SolveStatus::stagnated);
      if (report_.true_relative_residual <= kTrueResidualSlack * options_.relative_tolerance) {
        target_ =
            tightened_target(target_, options_.relative_tolerance, report_.true_relative_residual);
      }
    }
  }

 private:
  SolveReport ended(SolveStatus status) {
    report_.status = status;
    return std::move(report_);
  }

  double residual_norm() {
    iteration_.enqueue_residual();
    copy_to_host(iteration_.state(), sizeof(IterationState), &host_state_);
    return std::sqrt(host_state_.rr);
  }

  void set_state() {
    const double target = target_ * reference_;
    host_state_.target_rr = target * target;
    host_state_.max_rr = max_rr_;
    host_state_.iteration = 0;
    host_state_.pending = 0.0;
    host_state_.max_iterations = options_.max_iterations - report_.iterations;
    host_state_.status = DeviceStatus::running;
    copy_to_device(&host_state_, sizeof(IterationState), iteration_.state());
  }

  struct Batch {
    StateCopy* copy;
    int iterations;
  };

  // Queues some iterations, no further than to the next replacement, and returns how many.
  int enqueue(int length) {
    if (replacement_interval_ > 0) length = std::min(length, until_replacement_);
    if (!records_) {
      iteration_.enqueue_all(length);
    } else if (!recorded_.one) {
      // An iteration runs once before it is captured. So everything that it sets up at first
      // exists, and the GPU is busy while the graph is made.
      iteration_.enqueue_all(a_call_);
      recorded_.one.emplace(a_call_, iteration_);
      length = a_call_;
    } else {
      const bool takes_several = a_call_ < kIterationsPerGraph;
      if (takes_several && length >= kIterationsPerGraph && !recorded_.several) {
        recorded_.several.emplace(kIterationsPerGraph, iteration_);
      }
      for (int left = length; left > 0;) {
        IterationGraph& graph =
            takes_several && left >= kIterationsPerGraph ? *recorded_.several : *recorded_.one;
        graph.replay();
        left -= graph.iterations();
      }
    }
    return length;
  }

  void replace_where_due(int iterations) {
    if (replacement_interval_ == 0) return;
    until_replacement_ -= iterations;
    if (until_replacement_ > 0) return;
    iteration_.enqueue_replacement();
    until_replacement_ = replacement_interval_;
  }

  // Iterations from the last one seen to the target, at the mean rate so far; rounded down, because
  // one that is queued in vain costs more than one that is queued later.
  int foreseen() const {
    const double fallen = std::log(report_.history.front() / report_.history.back());
    const double to_fall = std::log(report_.history.back() / target_);
    const double iterations = to_fall / fallen * report_.iterations;
    constexpr int kUnknown = std::numeric_limits<int>::max() / 2;
    return fallen > 0.0 && iterations < kUnknown ? std::max(static_cast<int>(iterations), 0)
                                                 : kUnknown;
  }

  // Of `length` iterations that may be queued behind `ahead`, those that will be needed and are
  // allowed; `min_length` if nothing is under way.
  int due(int length, int ahead, int min_length) const {
    const int allowed = options_.max_iterations - report_.iterations - ahead;
    const int needed = std::min(std::max(foreseen() - ahead, ahead == 0 ? min_length : 0),
                                std::max(allowed, ahead == 0 ? 1 : 0));
    return std::min(length, (needed + a_call_ - 1) / a_call_ * a_call_);
  }

  // What of a rank hangs on its clock, and on who asks it to stop.
  struct Pace {
    int length;  // of the next batch
    int min_length;
    int max_in_flight;
    bool is_interrupted;
  };

  Pace pace_after(const Batch& batch, double seconds, int length) const {
    const double wanted = kSecondsPerBatch * batch.iterations / std::max(seconds, 1e-9);
    return {std::clamp(static_cast<int>(wanted) / a_call_ * a_call_, a_call_,
                       std::min(2 * length, kMaxIterationsPerBatch)),
            std::max(static_cast<int>(wanted * kMinSecondsPerBatch / kSecondsPerBatch), 1),
            wanted < 1.0 ? 1 : static_cast<int>(kMaxBatchesInFlight),
            stop_ == SolveStatus::interrupted};
  }

  // All ranks go at the pace of rank 0, and stop where one is asked to.
  Pace agreed(const Pace& mine) {
    if (shared_ == nullptr) return mine;
    const std::vector<Pace> paces = shared_->ranks().all_gather(mine);
    if (std::any_of(paces.begin(), paces.end(),
                    [](const Pace& pace) { return pace.is_interrupted; })) {
      stop_ = SolveStatus::interrupted;
    }
    return paces.front();
  }

  const IterationState& wait(const Batch& batch, double seconds_of_last) {
    if (shared_ == nullptr) return batch.copy->wait();
    const double patience = kPatienceSeconds + kPatienceBatches * seconds_of_last;
    const IterationState* const state = batch.copy->wait_for(patience);
    if (state != nullptr) return *state;
    // What is given up waits for graphs that refer to it.
    recorded_.one.reset();
    recorded_.several.reset();
    shared_->carrier()->give_up();
    throw DeviceError("no answer from other processes for " +
                      std::to_string(static_cast<int>(patience)) + " s");
  }

  // Iterates until the GPU, the observer or stagnation ends it. Iterations that are queued by then
  // still run, and count.
  SolveStatus iterate() {
    std::deque<Batch> queue;
    int next_copy = 0;
    // If iterations are long, the host waits for each one, because those queued behind the last one
    // are lost time.
    Pace pace{a_call_, a_call_, 1, false};
    double seconds = 0.0;
    seen_ = 0;
    until_replacement_ = replacement_interval_;
    std::optional<SolveStatus> end;
    auto last_time = std::chrono::steady_clock::now();
    while (!end || !queue.empty()) {
      while (!end && static_cast<int>(queue.size()) < pace.max_in_flight) {
        const int ahead =
            std::accumulate(queue.begin(), queue.end(), 0,
                            [](int sum, const Batch& batch) { return sum + batch.iterations; });
        const int wanted = due(pace.length, ahead, pace.min_length);
        if (wanted == 0) break;
        const int queued = enqueue(wanted);
        recorded_.copies[next_copy].enqueue(iteration_.state());
        queue.push_back({&recorded_.copies[next_copy], queued});
        next_copy = (next_copy + 1) % static_cast<int>(kMaxBatchesInFlight);
        replace_where_due(queued);
      }
      const Batch batch = queue.front();
      queue.pop_front();
      const IterationState& state = wait(batch, seconds);
      const auto now = std::chrono::steady_clock::now();
      seconds = std::chrono::duration<double>(now - last_time).count();
      last_time = now;
      take(state);
      pace = agreed(pace_after(batch, seconds, pace.length));
      if (!end) end = ending(state);
    }
    return *end;
  }

  // Takes the iterations that are new in the state.
  void take(const IterationState& state) {
    for (; seen_ < state.iteration; ++seen_) {
      const IterationRecord& record = state.records[seen_ % kMaxIterationsPerBatch];
      const double relative = std::sqrt(record.rr) * scale_;
      ++report_.iterations;
      report_.history.push_back(relative);
      // The observer that asked to stop is not shown the iterations that were queued by then.
      if (stop_) continue;
      if (options_.observer && options_.observer(report_.iterations, relative) == Continue::no) {
        stop_ = SolveStatus::interrupted;
      } else if (monitor_.stagnates(report_.iterations, relative, record.energy)) {
        stop_ = SolveStatus::stagnated;
      }
    }
  }

  // How the solve ended if it has.
  std::optional<SolveStatus> ending(const IterationState& state) const {
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
      case DeviceStatus::diverged:
        return SolveStatus::diverged;
    }
    return std::nullopt;
  }

  DeviceIteration& iteration_;
  RecordedIteration& recorded_;
  const SolveOptions& options_;
  std::shared_ptr<const SharedEntries> shared_;  // null: no other rank iterates
  bool records_;
  int a_call_;
  int replacement_interval_;
  IterationState host_state_{};
  SolveReport report_;
  StagnationMonitor monitor_;
  std::optional<SolveStatus> stop_;
  int seen_ = 0;
  int until_replacement_ = 0;
  double reference_ = 0.0;
  double target_ = 0.0;
  double scale_ = 0.0;
  double max_rr_ = 0.0;
};

}  // namespace

DeviceRun::DeviceRun() : recorded_(std::make_unique<RecordedIteration>()) {}
DeviceRun::~DeviceRun() = default;

void DeviceRun::forget_graphs() {
  recorded_->one.reset();
  recorded_->several.reset();
}

SolveReport DeviceRun::solve(DeviceIteration& iteration, const SolveOptions& options) {
  const int before = iteration.iterations_per_call();
  iteration.limit_call(options.replacement_interval > 0 ? options.replacement_interval
                                                        : std::numeric_limits<int>::max());
  if (iteration.iterations_per_call() != before) forget_graphs();
  return DeviceSolve(iteration, *recorded_, options).solve();
}

}  // namespace tessera
