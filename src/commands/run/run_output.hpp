// A RunRecord is all that a run knows, and is written as its results.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "postprocess/probes/probes.hpp"
#include "postprocess/timing/energy_meter.hpp"
#include "postprocess/timing/rank_times.hpp"
#include "postprocess/timing/timers.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/model.hpp"
#include "src/case/ranks/rank_summary.hpp"
#include "src/case/strategy.hpp"
#include "src/commands/run/result_set.hpp"
#include "src/commands/run/run_notes.hpp"
#include "src/commands/time/time_json.hpp"
#include "src/launches/launch_report.hpp"
#include "src/machine/known_rates.hpp"
#include "src/parameters/case_parameters.hpp"
#include "src/solve/evaluation.hpp"
#include "src/solve/solve.hpp"

namespace tessera {

/// All that a run knows, filled stage after stage; what its results are made of.
struct RunRecord {
  TimerTree timers;
  CaseParameters parameters;
  /// What stands for each `auto` of the case.
  std::vector<ChosenValue> choices;
  /// Of the operator, as it will be called.
  StrategyName strategy;
  std::chrono::system_clock::time_point started;
  DeviceInfo gpu;  // where the run is on one
  RunNotes notes;
  std::optional<CaseModel> model;
  std::optional<ScalarField> exact;
  LinearSystem system;
  SolveOutcome outcome;
  EnergyUse energy;
  Evaluation evaluation;
  std::optional<Probes> probes;
  /// Empty where they are not known.
  ProbeValues probe_values;
  /// Of a run in time.
  std::optional<TimeSummary> time;
  /// What it went on from; null if it began.
  const Restart* restart = nullptr;
  /// Of a run on several processes.
  std::optional<RankSummary> ranks;
  std::optional<RankTimes> rank_times;
  /// What operator and preconditioner launch on the GPU; empty unless it was asked for.
  std::vector<LaunchReport> launches;
  /// Of all processes together.
  std::optional<Index> peak_bytes;
  std::optional<Index> peak_gpu_bytes;
  MeasuredRates rates;  // of the processor in use, as far as they are known

  /// What limits the work of the run.
  MachineRates limits() const { return rates.in(parameters.operation.precision); }
  bool on_gpu() const { return parameters.run.device == RunDevice::cuda; }
};

/// Writes the results of a solved run into its directory, which exists; never throws for what
/// fails. Each file is written whatever becomes of the others, and what is missing becomes a note.
/// Of several ranks, which call it together, rank 0 writes all but the pieces of the solution.
/// @param files of the run's directory, with what the run wrote while it went on
void write_results(RunRecord& run, ResultSet& files);

}  // namespace tessera
