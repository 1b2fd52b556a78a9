// A SolveTiming times the parts of a solve, in place on the host and by sampling on the GPU.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "solvers/memory/device.hpp"
#include "src/solve/application_time.hpp"
#include "src/solve/cycle_timing.hpp"
#include "src/solve/preconditioning.hpp"
#include "src/solve/timed.hpp"

namespace tessera {

/// Whether an iteration can be told apart into its parts.
enum class IterationParts { several, one };

/// Times the parts of a solve by an operator and a preconditioner, which go through the same steps
/// with it as without.
template <class T, class Space>
class SolveTiming;

/// The part of a solve that does whole iterations in one kernel.
inline constexpr char kInOneKernelPart[] = "iterations in one kernel";

/// On the host what the solver applies times itself.
template <class T>
class SolveTiming<T, Host> {
 public:
  SolveTiming(const LinearOperator<T, Host>& a, const PreconditionerSetup<T, Host>& made,
              TimerTree& timers)
      : a_(a, timers), made_(made), timers_(timers), cycle_(timers) {
    if (made.preconditioner) m_.emplace(*made.preconditioner, timers);
  }
  ~SolveTiming() {
    if (made_.set_observer) made_.set_observer(nullptr);
  }
  SolveTiming(const SolveTiming&) = delete;
  SolveTiming& operator=(const SolveTiming&) = delete;

  /// What the solver is to apply.
  const LinearOperator<T, Host>& a() const { return a_; }
  const Preconditioner<T, Host>* m() const { return m_ ? &*m_ : nullptr; }
  /// Not known: applications are timed in the solve.
  double apply_seconds() const { return 0.0; }

  /// Before a solve with a right-hand side like b.
  void begin(const HostVector<T>&) {
    if (made_.set_observer) made_.set_observer(&cycle_);
  }
  /// After it, within its scope.
  void end(int iterations, int, double seconds, IterationParts) {
    const double rest =
        seconds - timers_.seconds("solve/apply") - timers_.seconds("solve/precondition");
    if (iterations > 0) timers_.add("vector updates", iterations, rest, rest / iterations);
  }

 private:
  TimedOperator<T, Host> a_;
  std::optional<TimedPreconditioner<T, Host>> m_;
  const PreconditionerSetup<T, Host>& made_;
  TimerTree& timers_;
  CycleTimer cycle_;
};

/// On the GPU an application of the operator, one of the preconditioner and the parts of one cycle
/// are timed before the solve, and stand for all: within the solve they cannot be timed one by one.
template <class T>
class SolveTiming<T, Device> {
 public:
  SolveTiming(const LinearOperator<T, Device>& a, const PreconditionerSetup<T, Device>& made,
              TimerTree& timers)
      : a_(a), made_(made), timers_(timers) {}

  const LinearOperator<T, Device>& a() const { return a_; }
  const Preconditioner<T, Device>* m() const { return made_.preconditioner.get(); }

  void begin(const DeviceVector<T>& b) {
    const auto scope = timers_.scope("time an application");
    apply_seconds_ = application_seconds<T>([&](DeviceVector<T>& y) { a_.apply(b, y); }, b.layout(),
                                            WarmUp::once);
    if (m() == nullptr || m()->as_diagonal() != nullptr) return;
    // First, which warms the application up that is timed as a whole.
    time_cycle(b);
    const double parts = seconds_of_parts();
    precondition_seconds_ =
        on_any_rank(b.layout(), parts >= kLongCycle)
            ? parts
            : application_seconds<T>([&](DeviceVector<T>& z) { m()->apply(b, z); }, b.layout(),
                                     cycle_.empty() ? WarmUp::once : WarmUp::is_done);
  }
  /// Of one application, before the solve.
  double apply_seconds() const { return apply_seconds_; }
  /// @param applications of A, and of M if there is one, in each iteration
  void end(int iterations, int applications, double seconds, IterationParts parts) {
    if (iterations == 0) return;
    if (parts == IterationParts::one) {
      timers_.add(kInOneKernelPart, iterations, seconds, seconds / iterations);
      return;
    }
    const int calls = iterations * applications;
    const double apply = std::min(apply_seconds_, seconds / calls);
    const double precondition = std::min(precondition_seconds_, seconds / calls - apply);
    const double rest = seconds - (apply + precondition) * calls;
    timers_.add("apply", calls, apply * calls, apply);
    if (precondition > 0.0) {
      timers_.add("precondition", calls, precondition * calls, precondition);
      add_cycle(calls, precondition);
    }
    timers_.add("vector updates", iterations, rest, rest / iterations);
  }

 private:
  // The pauses between the parts of a cycle, some tenths of a millisecond, are little of it.
  static constexpr double kLongCycle = 5e-3;

  void time_cycle(const DeviceVector<T>& r) {
    if (!made_.set_observer) return;
    DeviceCycleWatch watch;
    made_.set_observer(&watch);
    DeviceVector<T> z(r.layout());
    m()->apply(r, z);
    made_.set_observer(nullptr);
    cycle_ = watch.times();
  }

  double seconds_of_parts() const {
    double sum = 0.0;
    for (const CycleTimes& level : cycle_) {
      for (const double part : level) sum += part;
    }
    return sum;
  }

  // The parts of cycles as parts of "precondition". Timed one by one they take longer than
  // together, so only their shares are used.
  void add_cycle(int cycles, double seconds_per_cycle) {
    const double sum = seconds_of_parts();
    for (std::size_t l = 0; l < cycle_.size(); ++l) {
      for (std::size_t part = 0; part < cycle_[l].size(); ++part) {
        if (cycle_[l][part] == 0.0) continue;
        const double seconds = seconds_per_cycle * cycle_[l][part] / sum;
        timers_.add("precondition/" + cycle_timer_name(l, static_cast<CyclePart>(part)), cycles,
                    seconds * cycles, seconds);
      }
    }
  }

  const LinearOperator<T, Device>& a_;
  const PreconditionerSetup<T, Device>& made_;
  TimerTree& timers_;
  double apply_seconds_ = 0.0;
  double precondition_seconds_ = 0.0;
  std::vector<CycleTimes> cycle_;
};

}  // namespace tessera
