// A ConvergenceRow is a case solved on one mesh, for its errors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "solvers/krylov/cg.hpp"
#include "src/case/setup.hpp"
#include "src/study/convergence/rates.hpp"

namespace tessera {

/// A case solved on one mesh.
struct ConvergenceRow {
  int degree = 0;
  std::vector<std::int64_t> cells = {};
  Index dofs = 0;
  /// Why it was not solved; the rest is meaningless unless this is empty.
  std::string left_out = {};
  /// Whether the errors are those of the discretization: the solver got as far as it was asked to,
  /// or as rounding lets it.
  bool is_solved = false;
  SolvedMesh mesh = {};
  SolveReport report = {};
  double setup_seconds = 0.0;
  double solve_seconds = 0.0;
  /// With the evaluation of errors.
  double all_seconds = 0.0;
};

/// @throws NotEnoughMemory, on CPU or GPU
void require_room(const CaseParameters& parameters);

/// To be called where an exception has been caught: why the row is left out. What does not belong
/// to the size of its problem is thrown on, and so is an InputError of the first level, where it is
/// the case that is wrong.
std::string why_left_out_by_exception(int level);

/// Sizes of the case, not solved yet.
ConvergenceRow unsolved_row(const CaseParameters& parameters);

/// Solves the case, which has an exact solution, as a run does, and computes its errors.
/// @param iteration hears of each; Continue::no ends the solve as interrupted
/// @throws InputError, NotEnoughMemory, Interrupted, DeviceError, std::bad_alloc
ConvergenceRow solved_row(const LoadedCase& loaded,
                          const std::function<Continue(int, double)>& iteration);

}  // namespace tessera
