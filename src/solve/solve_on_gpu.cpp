// This file solves a case on the GPU, with sampled times of its parts.
#include "src/solve/solve_on_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "operators/strategy.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/strategy.hpp"
#include "src/solve/device_cycle_timing.hpp"
#include "src/solve/dispatch.hpp"
#include "src/solve/full_multigrid_start.hpp"
#include "src/study/median.hpp"

namespace tessera {
namespace {

// Seconds of apply(x, y) on the GPU: the median of a few, after one to warm up.
template <class T, class Apply>
double seconds_of_apply(Apply&& apply, const DeviceVector<T>& x) {
  constexpr std::size_t kRepetitions = 5;
  DeviceVector<T> y(x.size());
  apply(x, y);
  DeviceStopwatch stopwatch;
  std::vector<double> seconds(kRepetitions);
  for (double& time : seconds) {
    stopwatch.start();
    apply(x, y);
    time = stopwatch.stop();
  }
  return median(std::move(seconds));
}

// The parts of one cycle.
template <class T>
std::vector<CycleTimes> time_cycle(const PreconditionerSetup<T, Device>& made,
                                   const DeviceVector<T>& r) {
  if (!made.set_observer) return {};
  DeviceCycleWatch watch;
  made.set_observer(&watch);
  DeviceVector<T> z(r.size());
  made.preconditioner->apply(r, z);
  made.set_observer(nullptr);
  return watch.times();
}

// The parts of cycles as parts of "precondition". Timed one by one they take longer than together,
// so only their shares are used.
void add_cycle(const std::vector<CycleTimes>& levels, int cycles, double seconds_per_cycle,
               TimerTree& timers) {
  double sum = 0.0;
  for (const CycleTimes& level : levels) {
    for (const double part : level) sum += part;
  }
  for (std::size_t l = 0; l < levels.size(); ++l) {
    for (std::size_t part = 0; part < levels[l].size(); ++part) {
      if (levels[l][part] == 0.0) continue;
      const double seconds = seconds_per_cycle * levels[l][part] / sum;
      timers.add(fmt::format("precondition/level {}: {}", l,
                             cycle_part_name(static_cast<CyclePart>(part))),
                 cycles, seconds * cycles, seconds);
    }
  }
}

template <class T>
SolveOutcome solve_in(const SolveTask& task, LinearSystem& system, TimerTree& timers,
                      const SolveListeners& listeners) {
  const CaseParameters& parameters = task.parameters;
  const PoissonProblem& problem = task.problem;
  const BilinearForm& form = task.form;
  const double scale = task.scale;
  const SolverParameters& solver = parameters.solver;
  std::unique_ptr<LinearOperator<T, Device>> a;
  PreconditionerSetup<T, Device> made;
  DeviceVector<T> x;
  DeviceVector<T> b;
  // Made now, for what is computed must not be lost for want of memory.
  HostVector<T> landing = make_landing<T, Device>(system.x.size());
  {
    const auto setup = timers.resume("setup");
    {
      const auto scope = timers.scope("operator");
      a = make_operator<T, Device>(case_strategy(parameters), form);
      synchronize_device();
    }
    stop_if_requested();
    if (solver.preconditioner != kNoPreconditioner) {
      const auto scope = timers.scope("preconditioner");
      made = make_preconditioner<T, Device>(parameters, form, *a, residual_size(system));
      synchronize_device();
    }
    const auto scope = timers.scope("copy to GPU");
    x = converted<T, Device>(system.x);
    b = converted<T, Device>(system.b);
  }
  const Preconditioner<T, Device>* const m = made.preconditioner.get();
  const double n = static_cast<double>(a->size());
  SolveOutcome outcome{{}, a->bytes(), {n, a->cost().bytes}, made.levels, made.notes, a->name()};
  stop_if_requested();
  listeners.preconditioner(made.levels, made.notes);
  double apply_seconds = 0.0;
  double precondition_seconds = 0.0;
  std::vector<CycleTimes> cycle;
  {
    const auto scope = timers.scope("time an application");
    apply_seconds = seconds_of_apply([&](const auto& u, auto& v) { a->apply(u, v); }, b);
    if (m != nullptr && m->as_diagonal() == nullptr) {
      precondition_seconds = seconds_of_apply([&](const auto& u, auto& v) { m->apply(u, v); }, b);
      cycle = time_cycle(made, b);
    }
  }
  if (solver.initial == kFullMultigrid) {
    const auto scope = timers.scope("full multigrid");
    auto full = make_full_multigrid<T, Device>(problem, *made.hierarchy,
                                               multigrid_options(parameters).scatter, *a,
                                               solver.multigrid.start_cycles, scale);
    add_notes(full.notes, listeners, outcome);
    full.start.run(made.cycle, b, x);
    synchronize_device();
  }
  {
    const auto scope = timers.scope("solve");
    const double before = timers.seconds("solve");
    const double omega = relaxation(solver.method, *a, m);
    outcome.report = solve_by_method<T, Device>(solver.method, *a, m, b, x, omega,
                                                solver_options(solver, system, listeners));
    const double total = timers.seconds("solve") - before;
    const int iterations = outcome.report.iterations;
    if (iterations > 0) {
      const double apply = std::min(apply_seconds, total / iterations);
      const double precondition = std::min(precondition_seconds, total / iterations - apply);
      const double rest = total - (apply + precondition) * iterations;
      timers.add("apply", iterations, apply * iterations, apply);
      if (precondition > 0.0) {
        timers.add("precondition", iterations, precondition * iterations, precondition);
        add_cycle(cycle, iterations, precondition, timers);
      }
      timers.add("vector updates", iterations, rest, rest / iterations);
      timers.set_work("solve/apply", outcome.apply_work);
      timers.set_work("solve/vector updates", {n, update_streams(*a, parameters) * n * sizeof(T)});
    }
  }
  const auto scope = timers.scope("copy from GPU");
  convert_back(x, landing, system.x);
  return outcome;
}

}  // namespace

SolveOutcome solve_on_gpu(const SolveTask& task, LinearSystem& system, TimerTree& timers,
                          const SolveListeners& listeners) {
  return task.parameters.operation.precision == Precision::single_precision
             ? solve_in<float>(task, system, timers, listeners)
             : solve_in<double>(task, system, timers, listeners);
}

}  // namespace tessera
