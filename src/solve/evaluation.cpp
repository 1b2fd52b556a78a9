// This file computes the numbers of a solution that can be computed.
#include "src/solve/evaluation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "cases/problem/poisson_problem.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "postprocess/device_error_norms.hpp"
#include "postprocess/ranks/rank_norms.hpp"
#include "solvers/configuration.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"

namespace tessera {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Says of a number that was computed if it is of no use.
void check_finite(const char* name, double value, RunNotes& notes) {
  if (!std::isfinite(value)) {
    notes.complain(fmt::format("{} is not known: it is {} in double precision", name, value));
  }
}

// Those of the GPU, on all ranks or on none; null where the host is asked.
std::unique_ptr<SolutionNorms> make_device_norms(
    const CaseModel& model, HostVector<double>& u, const std::optional<ScalarField>& exact,
    RunNotes& notes, const std::shared_ptr<DeviceVector<double>>& u_on_gpu) {
  if constexpr (kHasCuda) {
    constexpr const char* kOnHost = "the numbers of the solution are computed on the host";
    const ScalarField& k = model.problem.coefficient;
    if ((!k.constant && k.program == nullptr) || (exact && !has_program(*exact))) {
      notes.add(fmt::format("{}: a field is not known as a program", kOnHost));
      return nullptr;
    }
    try {
      return on_all_ranks(model.part.get(), [&]() -> std::unique_ptr<SolutionNorms> {
        return std::make_unique<DeviceErrorNorms>(model.discretization, u, u_on_gpu);
      });
    } catch (const DeviceError& error) {
      notes.complain(fmt::format("{}: {}", kOnHost, error.what()));
    }
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<SolutionNorms> make_solution_norms(
    const CaseModel& model, HostVector<double>& u, const std::optional<ScalarField>& exact,
    Processor processor, RunNotes& notes, const std::shared_ptr<DeviceVector<double>>& u_on_gpu) {
  std::unique_ptr<SolutionNorms> norms;
  if (processor == Processor::gpu) norms = make_device_norms(model, u, exact, notes, u_on_gpu);
  if constexpr (kHasCuda) {
    if (norms == nullptr && u_on_gpu != nullptr) {
      u = HostVector<double>(u_on_gpu->layout());
      copy(*u_on_gpu, u);
    }
  }
  if (norms == nullptr) norms = std::make_unique<HostSolutionNorms>(model.discretization, u);
  if (model.part == nullptr) return norms;
  return std::make_unique<RankNorms>(model.ranks(), std::move(norms));
}

void shift_to_mean_zero(const CaseModel& model, SolutionNorms& u, std::optional<ScalarField>& exact,
                        RunNotes& notes) {
  notes.attempt("the mean of the solution is not 0", [&] {
    const double mean = mean_value(u);
    if (std::isfinite(mean)) u.subtract(mean);
  });
  if (!exact) return;
  const auto shift = [&] { exact = shifted(*exact, mean_value(model, u, *exact)); };
  if (!notes.attempt("the exact solution's mean is not known", shift)) exact.reset();
}

Evaluation evaluate(const CaseModel& model, const SolutionNorms& u,
                    const std::optional<ScalarField>& exact, RunNotes& notes) {
  Evaluation result;
  SolutionNumbers& numbers = result.solution;
  numbers = {kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  const bool has_extrema = notes.attempt("solution.min and solution.max are not known", [&] {
    const auto [min, max] = u.extrema();
    numbers.min = min;
    numbers.max = max;
  });
  const bool is_finite = std::isfinite(numbers.min) && std::isfinite(numbers.max);
  if (has_extrema && !is_finite) notes.complain("the solution has values that are not finite");

  const bool has_energy = notes.attempt("solution.energy is not known", [&] {
    stop_if_requested();
    numbers = solution_numbers(model, u);
  });
  const bool has_integral = has_energy || notes.attempt("solution.integral is not known", [&] {
    stop_if_requested();
    numbers.integral = integral(model, u);
  });
  if (is_finite && has_energy) check_finite("solution.energy", numbers.energy, notes);
  if (is_finite && has_integral) check_finite("solution.integral", numbers.integral, notes);
  if (!exact) return result;

  ErrorNorms& error = result.error.emplace(ErrorNorms{kUnknown, kUnknown, kUnknown});
  const bool has_norms = notes.attempt("error.l2 and error.h1_seminorm are not known", [&] {
    stop_if_requested();
    error = error_norms(model, u, *exact);
  });
  if (!has_norms) {
    notes.attempt("error.max is not known", [&] {
      stop_if_requested();
      error.max = max_error(model, u, *exact);
    });
  }
  if (is_finite && has_norms) {
    check_finite("error.l2", error.l2, notes);
    check_finite("error.h1_seminorm", error.h1_seminorm, notes);
  }
  return result;
}

}  // namespace tessera
