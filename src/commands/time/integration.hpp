// An Integration solves a case in time and writes what it passes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "mesh/errors.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "postprocess/files/time_progress.hpp"
#include "postprocess/timing/energy_meter.hpp"
#include "solvers/interruption.hpp"
#include "solvers/time/time_integrator.hpp"
#include "src/case/model.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/case/time/time_case.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/run/run_output.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/commands/time/checkpoints.hpp"
#include "src/commands/time/restart.hpp"
#include "src/commands/time/solution_series.hpp"
#include "src/solve/evaluation.hpp"
#include "src/solve/time/diffusion.hpp"
#include "src/solve/time/safe_start.hpp"
#include "src/solve/vector_conversion.hpp"
#include "src/solve/whole_work.hpp"

namespace tessera {

/// Solves the case of a run in time from its start or a checkpoint on, step after step, and writes
/// the solution at each time of output.
template <class Space>
class Integration {
 public:
  /// Makes the operators ("setup" in the timers) and u at the start.
  /// @param run has its model and exact solution; run, series and checkpoints are referred to
  /// @param restart what the run goes on from; null if it begins
  /// @throws as make_operator(), make_preconditioner(), what the case's fields throw;
  ///     CheckpointError
  Integration(RunRecord& run, SolutionSeries& series, Checkpoints& checkpoints,
              const Restart* restart);

  /// Steps to the end and leaves in the run the solution that was reached, its time, the exact
  /// solution then, and what became of the solves. What ends it early is kept in the run's outcome
  /// and notes. @throws what failed on some ranks alone;
  ///     BadFieldValue before the first output
  void run(TimeProgress& progress, EnergyMeter& meter);

 private:
  void go(TimeProgress& progress, EnergyMeter& meter);
  void step(double until, TimeProgress& progress, EnergyMeter& meter);
  void begin();
  void read(const Restart& restart);
  void write_output();
  void write_checkpoint();
  void add_errors(double t);
  void judge_absolute_tolerance();
  void finish();

  RunRecord& run_;
  SolutionSeries& series_;
  Checkpoints& checkpoints_;
  const Restart* restart_;
  ProblemInTime problem_;
  std::optional<Diffusion<Space>> diffusion_;
  Vector<double, Space> w_;
  std::unique_ptr<TimeIntegrator<Space>> integrator_;
  std::optional<double> written_until_;
  // Of the method; 0: not known.
  double next_step_ = 0.0;
  // ||w|| of the steps, where they adapt to it.
  double largest_size_ = 0.0;
};

template <class Space>
Integration<Space>::Integration(RunRecord& run, SolutionSeries& series, Checkpoints& checkpoints,
                                const Restart* restart)
    : run_(run),
      series_(series),
      checkpoints_(checkpoints),
      restart_(restart),
      problem_(run.parameters, run.model->part) {
  const TimeParameters& time = *run.parameters.time;
  const auto setup = run.timers.resume("setup");
  const CaseModel& model = *run.model;
  diffusion_.emplace(run.parameters, problem_, model.discretization, model.units, run.timers);
  run.time = TimeSummary{.method = std::string(name_of(time.method)),
                         .order = time.order,
                         .start = time.start,
                         .end = time.start};
  run.time->smallest_step = std::numeric_limits<double>::infinity();
  TimeOptions options = time_options(run.parameters);
  run.system.x = HostVector<double>(diffusion_->layout());
  if (restart != nullptr) {
    read(*restart);
    options.start = restart->t();
    // The length of a step of high order is none for the first one of bdf.
    if (next_step_ > 0.0 && time.method != TimeMethod::bdf) options.first_step = next_step_;
  } else {
    begin();
  }
  diffusion_->time_application(w_);
  diffusion_->require_stable_steps(options.start);
  integrator_ = make_time_integrator<Space>(*diffusion_, options, w_);
}

template <class Space>
void Integration<Space>::begin() {
  const auto scope = run_.timers.scope("initial values");
  on_all_ranks(run_.model->part.get(),
               [&] { interpolate(*run_.model, make_initial(run_.parameters), run_.system.x); });
  diffusion_->clear_constrained(run_.system.x);
  w_ = converted<double, Space>(run_.system.x);
  require_safe_squares(*diffusion_, run_.time->start, w_);
}

template <class Space>
void Integration<Space>::read(const Restart& restart) {
  const auto scope = run_.timers.scope("checkpoint");
  const Checkpoint& checkpoint = restart.found.checkpoint;
  read_checkpoint_vector(restart.found.path, run_.system.x);
  w_ = converted<double, Space>(run_.system.x);
  TimeSummary total = checkpoint.time;
  total.method = run_.time->method;
  total.order = run_.time->order;
  total.start = run_.time->start;
  run_.time = std::move(total);
  next_step_ = checkpoint.next_step;
  written_until_ = checkpoint.last_output;
}

template <class Space>
void Integration<Space>::run(TimeProgress& progress, EnergyMeter& meter) {
  SolveStatus status = SolveStatus::converged;
  const auto end_with_exception = [&] {
    status = SolveStatus::not_finite;
    run_.outcome.failure = *run_.notes.reason_of_failure("the integration", [] { throw; });
    // The program says it at its end.
    run_.notes.add(fmt::format("the integration ended at t = {:.6g}: {}", integrator_->t(),
                               run_.outcome.failure));
  };
  try {
    go(progress, meter);
  } catch (const Interrupted&) {
    status = SolveStatus::interrupted;
    // The signal has been obeyed.
    withdraw_stop_request();
    run_.outcome.failure = "interrupted";
  } catch (const TimeStepError& error) {
    status = SolveStatus::no_step;
    run_.outcome.failure = error.what();
    if (const std::string complaint = diffusion_->complaint(); !complaint.empty()) {
      run_.outcome.failure += "; " + complaint;
    }
  } catch (const BadFieldValue&) {
    // A case that cannot begin is at fault, and leaves earlier results alone.
    if (run_.time->steps == 0 && !written_until_) throw;
    end_with_exception();
  } catch (...) {
    end_with_exception();
  }
  progress.finish();
  run_.outcome.report.status = status;
  // Before an output that would not be there if the run had not ended.
  if (checkpoints_.are_wanted() || status == SolveStatus::interrupted) write_checkpoint();
  finish();
}

template <class Space>
void Integration<Space>::go(TimeProgress& progress, EnergyMeter& meter) {
  // Earlier results are left alone until there are operators and steps that go on from them.
  if (restart_ != nullptr) series_.resume(*restart_);
  const TimeParameters& time = *run_.parameters.time;
  // Times of output by an earlier end or interval are multiples of another number.
  const double rounding = time_rounding(time);
  for (const double until : output_times(time)) {
    if (until < integrator_->t() - rounding) continue;
    if (written_until_ && until <= *written_until_ + rounding) continue;
    while (integrator_->t() < until - rounding) {
      step(until, progress, meter);
      const double t = integrator_->t();
      // What is written at the same time comes first.
      if (t < until - rounding && checkpoints_.is_due(t)) write_checkpoint();
    }
    write_output();
    if (checkpoints_.is_due(until)) write_checkpoint();
  }
}

template <class Space>
void Integration<Space>::write_checkpoint() {
  const auto scope = run_.timers.scope("checkpoint");
  const CaseParameters& parameters = run_.parameters;
  Checkpoint checkpoint{.program = program_name(),
                        .case_text = repeatable_text(parameters),
                        .dimension = parameters.mesh.dimension,
                        .degree = parameters.space.degree,
                        .dofs = diffusion_->layout().whole_size(),
                        .time = *run_.time,
                        .next_step = next_step_,
                        .last_output = written_until_,
                        .series = series_.written()};
  checkpoint.time.end = integrator_->t();
  // A copy from a GPU may fail, too.
  run_.notes.attempt(kCheckpointName, "is not written",
                     [&] { checkpoints_.write(checkpoint, on_host(w_)); });
}

template <class Space>
void Integration<Space>::step(double until, TimeProgress& progress, EnergyMeter& meter) {
  agree_on_stop(run_.model->ranks());
  stop_if_requested();
  const auto scope = run_.timers.scope("steps");
  const TimeStep step = integrator_->step(until);
  TimeSummary& summary = *run_.time;
  ++summary.steps;
  summary.end = step.t;
  next_step_ = step.next_dt;
  largest_size_ = std::max(largest_size_, step.size);
  summary.rejected += step.rejected;
  summary.linear_iterations += step.linear_iterations;
  summary.nonlinear_iterations += step.nonlinear_iterations;
  summary.smallest_step = std::min(summary.smallest_step, step.dt);
  summary.largest_step = std::max(summary.largest_step, step.dt);
  series_.add_step({step.t, step.dt, step.error_estimate, step.linear_iterations, step.rejected,
                    step.nonlinear_iterations});
  progress.update(step.t, summary.steps, step.linear_iterations);
  meter.sample();
}

template <class Space>
void Integration<Space>::write_output() {
  const auto scope = run_.timers.scope("output");
  // A part of it that a signal left out would never be made up for.
  const UnstoppableWork whole;
  const double t = integrator_->t();
  HostVector<double>& u = run_.system.x;
  copy(w_, u);
  diffusion_->add_dirichlet_values(t, u);
  written_until_ = t;
  const CaseParameters& parameters = run_.parameters;
  run_.exact.reset();
  run_.notes.attempt("the exact solution", fmt::format("is not known at t = {:.6g}", t),
                     [&] { run_.exact = make_exact(parameters, t); });
  ++run_.time->outputs;
  {
    const auto part = run_.timers.scope("solution.vtu");
    series_.add(t, u, run_.exact, problem_.at(t).coefficient, run_.outcome.failure);
  }
  if (parameters.output.picture) {
    const auto part = run_.timers.scope("pictures");
    series_.add_picture(t, u, run_.outcome.failure);
  }
  if (run_.exact) add_errors(t);
  if (!run_.probes) return;
  const std::vector<Point>& points = parameters.output.probes.points;
  ProbeValues values;
  run_.notes.attempt("probes.csv", "lacks a time", [&] {
    values.u.resize(points.size());
    run_.probes->evaluate(u.span(), values.u);
    if (run_.exact) values.exact = values_at(points, *run_.exact);
  });
  series_.add_probes(t, values);
}

template <class Space>
void Integration<Space>::add_errors(double t) {
  const auto scope = run_.timers.scope("errors");
  run_.notes.attempt("time.max_error", fmt::format("lacks t = {:.6g}", t), [&] {
    const auto norms = make_solution_norms(*run_.model, run_.system.x, run_.exact,
                                           case_processor(run_.parameters), run_.notes);
    const ErrorNorms error = error_norms(*run_.model, *norms, *run_.exact);
    std::optional<ErrorNorms>& largest = run_.time->max_error;
    largest = largest ? larger_of_each(*largest, error) : error;
  });
}

template <class Space>
void Integration<Space>::judge_absolute_tolerance() {
  // Of an error that large, a digit of those that time.tolerance asks for is gone.
  constexpr double kTooLarge = 10.0;
  const TimeParameters& time = *run_.parameters.time;
  if (!time.absolute_tolerance || run_.time->steps == 0) return;
  const double size = std::max(largest_size_, diffusion_->error_norm(w_));
  if (!(size > 0.0 && *time.absolute_tolerance > kTooLarge * *time.tolerance * size)) return;
  run_.notes.complain(
      fmt::format("time.absolute_tolerance = {:g} allowed each step an error that is large beside "
                  "u, whose root mean square was {:.2g} at most: {:.1g} is {:g} of that",
                  *time.absolute_tolerance, size, *time.tolerance * size, *time.tolerance));
}

template <class Space>
void Integration<Space>::finish() {
  // What is left to be done takes no longer than an output.
  const UnstoppableWork whole;
  const double t = integrator_->t();
  // An explicit method may reach a time at which the case has no values.
  const bool is_known = run_.notes.attempt("the last solution is not known", [&] {
    if (written_until_ != t) write_output();
    run_.model->problem = diffusion_->problem_at(t);
  });
  if (!is_known) fill(run_.system.x, std::numeric_limits<double>::quiet_NaN());
  {
    const auto output = run_.timers.scope("output");
    const auto part = run_.timers.scope(run_.parameters.output.picture ? "pictures" : "view.py");
    series_.finish(run_.outcome.failure);
  }
  run_.time->end = t;
  run_.notes.attempt("time.absolute_tolerance is not looked at",
                     [&] { judge_absolute_tolerance(); });
  if (run_.time->steps == 0) run_.time->smallest_step = 0.0;
  if (run_.timers.seconds("steps") > 0.0) {
    const auto steps = run_.timers.resume("steps");
    diffusion_->add_application_times(run_.timers.seconds("steps"));
  }
  SolveOutcome& outcome = run_.outcome;
  outcome.report.iterations = static_cast<int>(run_.time->linear_iterations);
  outcome.operator_bytes = diffusion_->operator_bytes();
  outcome.levels = diffusion_->levels();
  outcome.notes = diffusion_->notes();
  if (const LinearOperator<double, Space>* const a = diffusion_->form_operator()) {
    outcome.apply_work = work_of_all_ranks(*a);
    outcome.operator_name = a->name();
  }
}

}  // namespace tessera
