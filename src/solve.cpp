#include "src/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "operators/device_strategy.hpp"
#include "operators/strategy.hpp"
#include "solvers/device.hpp"
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
                     const std::function<Continue(int, double)>& observer) {
  CgOptions options;
  options.relative_tolerance = parameters.solver.relative_tolerance;
  options.reference_norm = system.reference_norm;
  options.max_iterations = parameters.solver.max_iterations;
  options.observer = observer;
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

// Seconds of y = A x on the GPU: the median of a few, after one to warm up.
template <class T>
double seconds_of_apply(const LinearOperator<T, Device>& a, const DeviceVector<T>& x) {
  constexpr int kRepetitions = 5;
  DeviceVector<T> y(a.size());
  a.apply(x, y);
  DeviceStopwatch stopwatch;
  std::array<double, kRepetitions> seconds;
  for (double& time : seconds) {
    stopwatch.start();
    a.apply(x, y);
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
                          const std::function<Continue(int, double)>& observer) {
  std::unique_ptr<LinearOperator<T, Device>> a;
  std::unique_ptr<Preconditioner<T, Device>> jacobi;
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
    if (parameters.solver.preconditioner == PreconditionerChoice::jacobi) {
      const auto scope = timers.scope("preconditioner");
      jacobi = std::make_unique<Jacobi<T, Device>>(*a);
      synchronize_device();
    }
    const auto scope = timers.scope("copy to GPU");
    x = on_device<T>(system.x);
    b = on_device<T>(system.b);
  }
  const double n = static_cast<double>(a->size());
  SolveOutcome outcome{{}, a->bytes(), {n, a->cost().bytes}};
  const double seconds = [&] {
    const auto scope = timers.scope("time an application");
    return seconds_of_apply(*a, b);
  }();
  {
    const auto scope = timers.scope("solve");
    const double before = timers.seconds("solve");
    outcome.report = cg<T>(*a, jacobi.get(), b, x, cg_options(parameters, system, observer));
    const double total = timers.seconds("solve") - before;
    const int iterations = outcome.report.iterations;
    if (iterations > 0) {
      const double apply = std::min(seconds, total / iterations);
      const double rest = total - apply * iterations;
      timers.add("apply", iterations, apply * iterations, apply);
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
                      LinearSystem& system, TimerTree& timers,
                      const std::function<Continue(int, double)>& observer) {
  std::unique_ptr<LinearOperator<T, Host>> a;
  std::unique_ptr<Preconditioner<T, Host>> jacobi;
  {
    const auto setup = timers.resume("setup");
    {
      const auto scope = timers.scope("operator");
      a = make_operator<T>({parameters.operation.kernel, parameters.operation.scatter}, form);
    }
    if (parameters.solver.preconditioner == PreconditionerChoice::jacobi) {
      const auto scope = timers.scope("preconditioner");
      jacobi = std::make_unique<Jacobi<T>>(*a);
    }
  }
  const double n = static_cast<double>(a->size());
  SolveOutcome outcome{{}, a->bytes(), {n, a->cost().bytes}};
  const TimedOperator<T, Host> timed(*a, timers);
  std::unique_ptr<Preconditioner<T, Host>> timed_jacobi;
  if (jacobi) timed_jacobi = std::make_unique<TimedPreconditioner<T, Host>>(*jacobi, timers);

  const CgOptions options = cg_options(parameters, system, observer);
  const auto scope = timers.scope("solve");
  const double before = timers.seconds("solve");
  outcome.report = run_cg<T>(timed, timed_jacobi.get(), system, options);
  const double rest = timers.seconds("solve") - before - timers.seconds("solve/apply") -
                      timers.seconds("solve/precondition");
  const int iterations = outcome.report.iterations;
  if (iterations > 0) timers.add("vector updates", iterations, rest, rest / iterations);
  timers.set_work("solve/apply", outcome.apply_work);
  timers.set_work("solve/precondition", {n, 3.0 * n * sizeof(T)});
  timers.set_work("solve/vector updates",
                  {n, update_streams(*a, parameters.solver.preconditioner) * n * sizeof(T)});
  return outcome;
}

}  // namespace

SolveOutcome solve(const CaseParameters& parameters, const StiffnessForm& form,
                   LinearSystem& system, TimerTree& timers,
                   const std::function<Continue(int, double)>& observer) {
  const bool single = parameters.operation.precision == Precision::single_precision;
  if (parameters.run.device == RunDevice::cuda) {
    if constexpr (kHasCuda) {
      return single ? solve_on_gpu<float>(parameters, form, system, timers, observer)
                    : solve_on_gpu<double>(parameters, form, system, timers, observer);
    }
  }
  if (single) {
    return solve_in<float>(parameters, form, system, timers, observer);
  }
  return solve_in<double>(parameters, form, system, timers, observer);
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
