// An Integration solves a case in time and writes what it passes.
#pragma once

#include <optional>
#include <string>

#include "postprocess/files/time_progress.hpp"
#include "postprocess/timing/energy_meter.hpp"
#include "solvers/time/time_integrator.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/commands/run_output.hpp"
#include "src/commands/time/checkpoints.hpp"
#include "src/commands/time/restart.hpp"
#include "src/commands/time/solution_series.hpp"
#include "src/solve/time/diffusion.hpp"

namespace tessera {

/// Solves the case of a run in time from its start or a checkpoint on, step after step, and writes
/// the solution at each time of output.
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
  /// and notes; nothing is thrown.
  void run(TimeProgress& progress, EnergyMeter& meter);

  /// Why it ended before the end of the case; empty if it did not.
  const std::string& failure() const { return failure_; }

 private:
  void go(TimeProgress& progress, EnergyMeter& meter);
  void step(double until, TimeProgress& progress, EnergyMeter& meter);
  void begin();
  void resume(const Restart& restart);
  void write_output();
  void write_checkpoint();
  void add_errors(double t);
  void finish();

  RunRecord& run_;
  SolutionSeries& series_;
  Checkpoints& checkpoints_;
  ProblemInTime problem_;
  std::optional<Diffusion> diffusion_;
  HostVector<double> w_;
  std::unique_ptr<TimeIntegrator<Host>> integrator_;
  std::optional<double> written_until_;
  // Of the method; 0: not known.
  double next_step_ = 0.0;
  std::string failure_;
};

}  // namespace tessera
