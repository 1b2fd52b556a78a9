// A SolverMeasurement is one solver measured on one problem.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "postprocess/timing/energy_meter.hpp"
#include "solvers/krylov/cg.hpp"
#include "src/launches/launch_report.hpp"
#include "src/parameters/command_line.hpp"
#include "src/study/setup.hpp"
#include "src/study/study_ranks.hpp"

namespace tessera {

/// The most DoFs of a problem for which the error is computed.
inline constexpr Index kMaxForError = 20'000'000;

/// One solver measured on one problem.
struct SolverMeasurement {
  std::string solver;
  /// Why it is not for the problem or the machine; the rest is meaningless unless this is empty.
  std::string left_out = {};
  /// Seconds to make the preconditioner; of the operator's they are
  /// SolverBench::operator_seconds().
  double setup_seconds = 0.0;
  int repetitions = 0;
  /// Seconds of a solve from x = 0: of the fastest repetition, and the median.
  double min_seconds = 0.0;
  double median_seconds = 0.0;
  SolveReport report = {};
  /// L2 norm of the error; of large problems, where it takes longer than the solve, not computed.
  std::optional<double> l2_error = {};
  /// Joules of a solve a DoF; absent if not measured, and why.
  std::optional<double> joules_per_dof = {};
  std::string energy_note = {};
  /// What operator and preconditioner launch on the GPU, where it was asked for.
  std::vector<LaunchReport> launches = {};
};

/// Measures solvers on one problem, one after another: -div grad u = f on the unit cube or its
/// image, whose solution is u = f(x) f(y) f(z), f(t) = exp(t) sin(pi t), also on its boundary; from
/// x = 0 inside. Of several ranks, which call each function together, the slowest one's time
/// counts.
class SolverBench {
 public:
  SolverBench() = default;
  virtual ~SolverBench() = default;
  SolverBench(const SolverBench&) = delete;
  SolverBench& operator=(const SolverBench&) = delete;

  virtual Index dofs() const = 0;
  virtual std::string strategy() const = 0;
  virtual double operator_seconds() const = 0;
  /// @param launches whether what is launched on the GPU is reported, too
  virtual SolverMeasurement measure(const std::string& solver, LaunchReports launches) = 0;
};

/// Makes the system and, in the problem's precision, the operator: kronecker on uniform meshes,
/// tensor with the study's first scatter on mapped ones. Study and ranks must outlive it.
/// @throws as make_study_part()
std::unique_ptr<SolverBench> make_solver_bench(const StudyParameters& study,
                                               const StudyProblem& problem,
                                               const StudyRanks& ranks);

/// How a start by full multigrid ended whose cycles leave this relative residual: converged to the
/// tolerance; at its iteration limit, where it is above it, which a start to within the error of
/// the discretization may be; diverged if it has hardly fallen; or not finite.
SolveStatus status_of_start(double relative_residual, double relative_tolerance);

/// The case whose solver the study's entry names, as far as solvers look at cases.
CaseParameters solver_case(const StudyParameters& study, const StudyProblem& problem,
                           const std::string& solver);

}  // namespace tessera
