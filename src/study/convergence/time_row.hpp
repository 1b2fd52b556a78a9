// A TimeRow is a case solved in time with one length of steps, for its errors.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "postprocess/error_norms.hpp"
#include "solvers/memory/vector.hpp"
#include "src/case/setup.hpp"
#include "src/study/convergence/rates.hpp"

namespace tessera {

/// A case solved from start to end.
struct TimeRow {
  /// Whether steps came to the end of the case, are too long to be stable, which shorter ones may
  /// not be, or failed.
  enum class Steps { reach_the_end, are_unstable, fail };
  std::optional<double> step = {};       // of fixed steps
  std::optional<double> tolerance = {};  // of others
  Index steps = 0;
  Index iterations = 0;
  /// Why it was not solved; the rest is meaningless unless this is empty.
  std::string left_out = {};
  Steps what_steps_do = Steps::reach_the_end;
  ErrorNorms error = {};
  /// Each the largest of the outputs after the start.
  ErrorNorms largest = {};
  /// h: the length of a step, in the mean. Errors: in L2 and H1 at the end, and the largest in L2.
  SolvedMesh mesh = {};
  /// u at the end.
  HostVector<double> u = {};
  /// Whether the error in space, which steps leave as it is, has its part in each error.
  std::array<bool, kErrorNorms> is_of_space = {};
  double setup_seconds = 0.0;
  double solve_seconds = 0.0;
  /// With the evaluation of errors.
  double all_seconds = 0.0;
};

/// Solves the case, which has `[time]` and an exact solution, as a run does.
/// @param before the same with steps twice as long or so, if there is one: what u has changed since
///     tells the error of the steps from that in space
/// @param progress hears of the time after each step
/// @throws InputError, NotEnoughMemory, Interrupted, DeviceError, std::bad_alloc
TimeRow solved_row(const LoadedCase& loaded, const TimeRow* before,
                   const std::function<void(double)>& progress);

}  // namespace tessera
