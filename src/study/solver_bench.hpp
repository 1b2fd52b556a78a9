// This is the SolverBench of any precision and memory: it sets up a study's problem and solves it.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "operators/form/on_all_ranks.hpp"
#include "postprocess/ranks/rank_norms.hpp"
#include "postprocess/timing/statistics.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/system_scale.hpp"
#include "src/solve/full_multigrid_start.hpp"
#include "src/solve/method.hpp"
#include "src/solve/preconditioning.hpp"
#include "src/solve/solve_launches.hpp"
#include "src/study/solver_measurement.hpp"

namespace tessera {

/// A study's problem, discretized.
struct DiscretizedProblem {
  /// Sets the number of OpenMP threads.
  DiscretizedProblem(const StudyParameters& study, const StudyProblem& problem,
                     const StudyRanks& ranks);
  DiscretizedProblem(const DiscretizedProblem&) = delete;
  DiscretizedProblem& operator=(const DiscretizedProblem&) = delete;

  const StudyParameters& study;
  const StudyRanks& ranks;
  StudyProblem problem;
  StudyPart part;
  PoissonProblem poisson;
  ScalarField solution;
  BilinearForm form;  // refers to the part
  StrategyName strategy;
  LinearSystem system;
  /// What the system is divided by, against what the problem gives.
  double scale;
};

/// The bench in any precision and memory.
/// @tparam Space, T where solvers work and in which precision
template <class T, class Space>
class SolverBenchIn final : public SolverBench {
 public:
  using V = Vector<T, Space>;

  SolverBenchIn(const StudyParameters& study, const StudyProblem& problem, const StudyRanks& ranks)
      : given_(study, problem, ranks), a_(make_timed_operator()) {
    on_all_ranks(given_.ranks.all(), [&] {
      b_ = converted<T, Space>(given_.system.b);
      start_ = converted<T, Space>(given_.system.x);
      x_ = V(a_->layout());
    });
  }

  Index dofs() const override { return given_.part.whole().dof_count(); }
  std::string strategy() const override { return a_->name(); }
  double operator_seconds() const override { return operator_seconds_; }

  SolverMeasurement measure(const std::string& solver, LaunchReports launches) override {
    const CaseParameters parameters = solver_case(given_.study, given_.problem, solver);
    SolverMeasurement measurement{solver};
    const bool is_start = solver == kFullMultigrid;
    const double start = seconds_now();
    PreconditionerSetup<T, Space> made = make_preconditioner<T, Space>(
        {parameters, given_.form, *a_, residual_size(given_.system, a_->layout().whole_size())});
    std::optional<MadeFullMultigrid<T, Space>> full;
    if (is_start) {
      full.emplace(make_full_multigrid<T, Space>(
          given_.poisson, *made.hierarchy, multigrid_options(parameters).scatter, *a_,
          parameters.solver.multigrid.start_cycles, given_.scale));
    }
    std::unique_ptr<Solver<T, Space>> solver_of_case;
    if (!is_start) {
      const Preconditioner<T, Space>* const m = made.preconditioner.get();
      const SolverMethod method = parameters.solver.method;
      solver_of_case =
          make_solver(method, *a_, m, relaxation(method, *a_, m), parameters.solver.restart);
    }
    synchronize<Space>();
    measurement.setup_seconds = given_.ranks.slowest(seconds_now() - start);
    const SolveOptions options = solver_options(
        parameters.solver, given_.system,
        {[](int, double) { return iteration_stop_requested() ? Continue::no : Continue::yes; },
         nullptr});
    const auto solve = [&] {
      copy(start_, x_);
      synchronize<Space>();
      const double before = seconds_now();
      if (is_start) {
        full->start.run(made.cycle, b_, x_);
      } else {
        measurement.report = solver_of_case->solve(b_, x_, options);
      }
      synchronize<Space>();
      const double seconds = given_.ranks.slowest(seconds_now() - before);
      given_.ranks.stop_if_asked();
      return seconds;
    };
    const double first = solve();
    // That was to warm up, but for a solve which takes so long that it makes no difference.
    if (first < given_.study.time_limit_s) {  // the same on all ranks
      repeat(solve, measurement);
    } else {
      measurement.repetitions = 1;
      measurement.min_seconds = measurement.median_seconds = first;
      measurement.energy_note = "one repetition only";
    }
    if (is_start) {
      const double residual = relative_residual();
      measurement.report.iterations = parameters.solver.multigrid.start_cycles;
      measurement.report.status = status_of_start(residual, given_.study.solver.relative_tolerance);
      measurement.report.true_relative_residual = residual;
    }
    if (dofs() <= kMaxForError) measurement.l2_error = l2_error();
    if constexpr (kHasCuda && std::is_same_v<Space, Device>) {
      if (launches == LaunchReports::yes) {
        measurement.launches =
            solve_launches(*a_, made.preconditioner.get(), parameters.solver.preconditioner);
      }
    }
    return measurement;
  }

 private:
  // Sets operator_seconds_.
  std::unique_ptr<LinearOperator<T, Space>> make_timed_operator() {
    synchronize<Space>();
    const double start = seconds_now();
    auto made = make_operator<T, Space>(given_.strategy, given_.form);
    synchronize<Space>();
    operator_seconds_ = given_.ranks.slowest(seconds_now() - start);
    return made;
  }

  template <class Solve>
  void repeat(Solve&& solve, SolverMeasurement& measurement) {
    std::vector<double> seconds;
    EnergySources sources;
    if constexpr (std::is_same_v<Space, Device>) sources.gpu_bus_id = require_device().pci_bus_id;
    EnergyMeter meter(sources);
    const double start = seconds_now();
    const auto has_time = [&] {
      return given_.ranks.as_root_says(seconds_now() - start < given_.study.time_limit_s);
    };
    while (static_cast<int>(seconds.size()) < given_.study.repetitions &&
           (seconds.empty() || has_time())) {
      seconds.push_back(solve());
      meter.sample();
    }
    EnergyUse energy = meter.stop();
    if (energy.gpu) {
      const bool is_measured = energy.gpu->joules.has_value();
      energy.gpu->joules = given_.ranks.joules_of_all(energy.gpu->joules);
      if (is_measured && !energy.gpu->joules) energy.gpu->note = "not of all GPUs";
    }
    measurement.energy_note = energy.note();
    if (const std::optional<double> joules = energy.joules()) {
      measurement.joules_per_dof =
          *joules / static_cast<double>(seconds.size()) / static_cast<double>(dofs());
    }
    const Summary times = summarize(std::move(seconds));
    measurement.repetitions = times.count;
    measurement.min_seconds = times.minimum;
    measurement.median_seconds = times.median;
  }

  double relative_residual() {
    V r = on_all_ranks(given_.ranks.all(), [&] { return V(a_->layout()); });
    a_->apply(x_, r);
    subtract_in_place(b_, r);
    return std::sqrt(dot(r, r)) / given_.system.reference_norm;
  }

  double l2_error() {
    const Discretization& discretization = given_.part.discretization;
    HostVector<double> x = on_all_ranks(
        given_.ranks.all(), [&] { return HostVector<double>(given_.system.x.layout()); });
    convert_back(x_, x);
    multiply(x, given_.scale);
    const RankNorms norms(given_.ranks.all(),
                          std::make_unique<HostSolutionNorms>(discretization, x));
    return norms.error_norms(given_.solution, 1.0).l2 *
           std::sqrt(discretization.frame.volume(discretization.mesh.dimension()));
  }

  DiscretizedProblem given_;
  double operator_seconds_ = 0.0;
  std::unique_ptr<LinearOperator<T, Space>> a_;
  V b_;
  V start_;
  V x_;
};

}  // namespace tessera
