#include "src/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "operators/device_strategy.hpp"
#include "operators/strategy.hpp"
#include "solvers/device.hpp"
#include "src/device_cycle_timing.hpp"
#include "src/preconditioning.hpp"
#include "src/timed.hpp"

namespace tessera {
namespace {

// Vector traffic of a CG iteration beyond operator and preconditioner, in vectors read or written:
// p.q 2, x and r updates 6, p = z + beta p 3, and r.z 2 where z is not r. With fused forms all
// in 7.
template <class T>
int update_streams(const LinearOperator<T, Host>& a, PreconditionerChoice preconditioner) {
  if (preconditioner != PreconditionerChoice::none) return 13;
  return a.fused() != nullptr ? 7 : 11;
}

// On the GPU: p.q 2, r update 3, x and p updates 5, and the diagonal read twice. With fused forms r
// and p updates 5, x update half of 3.
template <class T>
double gpu_update_streams(const LinearOperator<T, Device>& a, PreconditionerChoice preconditioner) {
  if (preconditioner != PreconditionerChoice::none) return 12;
  return a.fused() != nullptr ? 6.5 : 10;
}

template <class T>
void convert(const HostVector<double>& from, HostVector<T>& to) {
#pragma omp parallel for simd schedule(static)
  for (Index i = 0; i < from.size(); ++i) to[i] = static_cast<T>(from[i]);
}

void convert(const HostVector<float>& from, HostVector<double>& to) {
#pragma omp parallel for simd schedule(static)
  for (Index i = 0; i < from.size(); ++i) to[i] = static_cast<double>(from[i]);
}

template <class T>
SolveReport run_cg(const LinearOperator<T, Host>& a, const Preconditioner<T, Host>* preconditioner,
                   LinearSystem& system, const CgOptions& options) {
  if constexpr (std::is_same_v<T, double>) {
    return cg(a, preconditioner, system.b, system.x, options);
  } else {
    HostVector<T> x(a.size());
    HostVector<T> b(a.size());
    convert(system.x, x);
    convert(system.b, b);
    SolveReport report = cg(a, preconditioner, b, x, options);
    convert(x, system.x);
    return report;
  }
}

CgOptions cg_options(const CaseParameters& parameters, const LinearSystem& system,
                     const SolveListeners& listeners) {
  CgOptions options;
  options.relative_tolerance = parameters.solver.relative_tolerance;
  options.reference_norm = system.reference_norm;
  options.max_iterations = parameters.solver.max_iterations;
  options.observer = listeners.iteration;
  return options;
}

template <class T>
DeviceVector<T> on_device(const HostVector<double>& values) {
  DeviceVector<T> result(values.size());
  if constexpr (std::is_same_v<T, double>) {
    copy(values, result);
  } else {
    HostVector<T> converted(values.size());
    convert(values, converted);
    copy(converted, result);
  }
  return result;
}

template <class T>
void to_host(const DeviceVector<T>& values, HostVector<double>& result) {
  if constexpr (std::is_same_v<T, double>) {
    copy(values, result);
  } else {
    HostVector<T> converted(values.size());
    copy(values, converted);
    convert(converted, result);
  }
}

// Typical size of an entry of the first residual.
double residual_size(const LinearSystem& system) {
  return system.reference_norm / std::sqrt(static_cast<double>(system.b.size()));
}

// Shares of a cycle's parts in its time, as parts of "precondition". Parts timed one by one take
// longer than together, so only their proportions are used.
void add_cycle(const std::vector<CycleTimes>& levels, int cycles, double seconds_a_cycle,
               TimerTree& timers) {
  double sum = 0.0;
  for (const CycleTimes& level : levels) {
    for (const double part : level) sum += part;
  }
  for (std::size_t l = 0; l < levels.size(); ++l) {
    for (std::size_t part = 0; part < levels[l].size(); ++part) {
      if (levels[l][part] == 0.0) continue;
      const double seconds = seconds_a_cycle * levels[l][part] / sum;
      timers.add(fmt::format("precondition/level {}: {}", l,
                             cycle_part_name(static_cast<CyclePart>(part))),
                 cycles, seconds * cycles, seconds);
    }
  }
}

// Seconds of apply(x, y) on the GPU: the median of a few, after one to warm up.
template <class T, class Apply>
double seconds_of_apply(Apply&& apply, const DeviceVector<T>& x) {
  constexpr int kRepetitions = 5;
  DeviceVector<T> y(x.size());
  apply(x, y);
  DeviceStopwatch stopwatch;
  std::array<double, kRepetitions> seconds;
  for (double& time : seconds) {
    stopwatch.start();
    apply(x, y);
    time = stopwatch.stop();
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[kRepetitions / 2];
}

// As solve_in(), with operator, vectors and iteration on the GPU. Applications within the solve
// cannot be timed one by one: one is timed before and stands for all.
template <class T>
SolveOutcome solve_on_gpu(const CaseParameters& parameters, const StiffnessForm& form,
                          LinearSystem& system, TimerTree& timers,
                          const SolveListeners& listeners) {
  std::unique_ptr<LinearOperator<T, Device>> a;
  MadePreconditioner<T, Device> made;
  DeviceVector<T> x;
  DeviceVector<T> b;
  {
    const auto setup = timers.resume("setup");
    {
      const auto scope = timers.scope("operator");
      a = make_device_operator<T>({parameters.operation.kernel, parameters.operation.scatter},
                                  form);
      synchronize_device();
    }
    if (parameters.solver.preconditioner != PreconditionerChoice::none) {
      const auto scope = timers.scope("preconditioner");
      made = make_preconditioner<T, Device>(parameters, form, *a, residual_size(system));
      synchronize_device();
    }
    const auto scope = timers.scope("copy to GPU");
    x = on_device<T>(system.x);
    b = on_device<T>(system.b);
  }
  const double n = static_cast<double>(a->size());
  SolveOutcome outcome{{}, a->bytes(), {n, a->cost().bytes}, made.levels};
  listeners.preconditioner(made.levels, made.notes);
  const double seconds = [&] {
    const auto scope = timers.scope("time an application");
    return seconds_of_apply([&](const auto& u, auto& v) { a->apply(u, v); }, b);
  }();
  const bool is_diagonal = made.preconditioner && made.preconditioner->as_diagonal() != nullptr;
  const double precondition_seconds = [&] {
    if (!made.preconditioner || is_diagonal) return 0.0;
    const auto scope = timers.scope("time an application");
    return seconds_of_apply([&](const auto& u, auto& v) { made.preconditioner->apply(u, v); }, b);
  }();
  std::vector<CycleTimes> cycle_times;
  if (made.set_watch) {
    const auto scope = timers.scope("time an application");
    DeviceCycleWatch watch;
    made.set_watch(&watch);
    DeviceVector<T> z(a->size());
    made.preconditioner->apply(b, z);
    made.set_watch(nullptr);
    cycle_times = watch.times();
  }
  {
    const auto scope = timers.scope("solve");
    const double before = timers.seconds("solve");
    outcome.report =
        cg<T>(*a, made.preconditioner.get(), b, x, cg_options(parameters, system, listeners));
    const double total = timers.seconds("solve") - before;
    const int iterations = outcome.report.iterations;
    if (iterations > 0) {
      const double apply = std::min(seconds, total / iterations);
      const double precondition = std::min(precondition_seconds, total / iterations - apply);
      const double rest = total - (apply + precondition) * iterations;
      timers.add("apply", iterations, apply * iterations, apply);
      if (precondition > 0.0) {
        timers.add("precondition", iterations, precondition * iterations, precondition);
        add_cycle(cycle_times, iterations, precondition, timers);
      }
      timers.add("vector updates", iterations, rest, rest / iterations);
      timers.set_work("solve/apply", outcome.apply_work);
      timers.set_work(
          "solve/vector updates",
          {n, gpu_update_streams(*a, parameters.solver.preconditioner) * n * sizeof(T)});
    }
  }
  const auto scope = timers.scope("copy from GPU");
  to_host(x, system.x);
  return outcome;
}

template <class T>
SolveOutcome solve_in(const CaseParameters& parameters, const StiffnessForm& form,
                      LinearSystem& system, TimerTree& timers, const SolveListeners& listeners) {
  std::unique_ptr<LinearOperator<T, Host>> a;
  MadePreconditioner<T, Host> made;
  {
    const auto setup = timers.resume("setup");
    {
      const auto scope = timers.scope("operator");
      a = make_operator<T>({parameters.operation.kernel, parameters.operation.scatter}, form);
    }
    if (parameters.solver.preconditioner != PreconditionerChoice::none) {
      const auto scope = timers.scope("preconditioner");
      made = make_preconditioner<T, Host>(parameters, form, *a, residual_size(system));
    }
  }
  const double n = static_cast<double>(a->size());
  SolveOutcome outcome{{}, a->bytes(), {n, a->cost().bytes}, made.levels};
  listeners.preconditioner(made.levels, made.notes);
  const TimedOperator<T, Host> timed(*a, timers);
  std::unique_ptr<Preconditioner<T, Host>> preconditioner;
  if (made.preconditioner) {
    preconditioner = std::make_unique<TimedPreconditioner<T, Host>>(*made.preconditioner, timers);
  }
  CycleTimer watch(timers);
  if (made.set_watch) made.set_watch(&watch);

  const CgOptions options = cg_options(parameters, system, listeners);
  const auto scope = timers.scope("solve");
  const double before = timers.seconds("solve");
  outcome.report = run_cg<T>(timed, preconditioner.get(), system, options);
  const double rest = timers.seconds("solve") - before - timers.seconds("solve/apply") -
                      timers.seconds("solve/precondition");
  const int iterations = outcome.report.iterations;
  if (iterations > 0) timers.add("vector updates", iterations, rest, rest / iterations);
  timers.set_work("solve/apply", outcome.apply_work);
  if (made.preconditioner && made.preconditioner->as_diagonal() != nullptr) {
    timers.set_work("solve/precondition", {n, 3.0 * n * sizeof(T)});
  }
  timers.set_work("solve/vector updates",
                  {n, update_streams(*a, parameters.solver.preconditioner) * n * sizeof(T)});
  return outcome;
}

}  // namespace

SolveOutcome solve(const CaseParameters& parameters, const StiffnessForm& form,
                   LinearSystem& system, TimerTree& timers, const SolveListeners& listeners) {
  const bool single = parameters.operation.precision == Precision::single_precision;
  if (parameters.run.device == RunDevice::cuda) {
    if constexpr (kHasCuda) {
      return single ? solve_on_gpu<float>(parameters, form, system, timers, listeners)
                    : solve_on_gpu<double>(parameters, form, system, timers, listeners);
    }
  }
  if (single) {
    return solve_in<float>(parameters, form, system, timers, listeners);
  }
  return solve_in<double>(parameters, form, system, timers, listeners);
}

std::vector<std::string> likely_causes(const CaseParameters& parameters,
                                       const SolveReport& report) {
  const bool single = parameters.operation.precision == Precision::single_precision;
  const bool plain = parameters.solver.preconditioner == PreconditionerChoice::none;
  std::vector<std::string> causes;
  switch (report.status) {
    case SolveStatus::converged:
      break;
    case SolveStatus::interrupted:
      causes.emplace_back("a signal (Ctrl-C) stopped the iteration");
      break;
    case SolveStatus::iteration_limit:
      causes.push_back(fmt::format(
          "solver.max_iterations = {} is too few for this mesh and degree: iterations grow with "
          "cells an axis times degree squared",
          parameters.solver.max_iterations));
      if (plain) {
        causes.emplace_back("no preconditioner: try solver.preconditioner = \"jacobi\"");
      }
      break;
    case SolveStatus::stagnated:
      causes.push_back(fmt::format(
          "solver.relative_tolerance = {} is below what rounding in {} precision lets this matrix "
          "reach",
          parameters.solver.relative_tolerance, name_of(parameters.operation.precision)));
      if (single) causes.emplace_back("try operator.precision = \"double\"");
      break;
    case SolveStatus::indefinite:
      causes.emplace_back(
          "p.Ap <= 0 in an operator that is positive definite without rounding: coefficients or "
          "cell shapes spread over too many orders of magnitude");
      if (single) causes.emplace_back("try operator.precision = \"double\"");
      break;
    case SolveStatus::not_finite:
      causes.push_back(fmt::format(
          "a number overflowed in {} precision: coefficient, source or boundary values are too "
          "large",
          name_of(parameters.operation.precision)));
      break;
  }
  return causes;
}

}  // namespace tessera
