// solve_nonlinear() finds a root of a system by Newton's or Picard's iteration.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/nonlinear/nonlinear_method.hpp"
#include "solvers/nonlinear/nonlinear_system.hpp"

namespace tessera {

/// Whether Newton's steps are shortened until the residual falls.
enum class LineSearch { on, off };

struct NonlinearOptions {
  NonlinearMethod method = NonlinearMethod::newton;
  /// Stop at ||F(u)|| <= relative_tolerance * reference_norm.
  double relative_tolerance = 1e-10;
  /// 0 for ||F(u)|| of the first u.
  double reference_norm = 0.0;
  int max_iterations = 50;
  /// Of picard: how many earlier iterates Anderson's acceleration uses, up to kMaxAcceleration; 0
  /// is the plain fixed point.
  int acceleration = 5;
  /// Of newton.
  LineSearch line_search = LineSearch::on;
  /// Called after every iteration with its number and ||F(u)|| / reference_norm; may be empty. With
  /// several ranks all have one, or none has; the answer of one rank ends the solve.
  std::function<Continue(int iteration, double relative_residual)> observer = {};
};

/// How a non-linear solve ended.
enum class NonlinearStatus {
  converged,
  iteration_limit,
  no_decrease,           // no step makes the residual smaller, or it grows beyond all measure
  linear_solver_failed,  // its system of equations could not be solved
  not_finite,            // F is not finite at the start, or in all of the step's directions
  interrupted            // the observer, or a linear solve's, asked to stop
};

/// One to three words for tables and result files.
std::string_view status_name(NonlinearStatus status);

struct NonlinearReport {
  NonlinearStatus status = NonlinearStatus::iteration_limit;
  int iterations = 0;
  /// The norm by which residuals are divided.
  double reference_norm = 0.0;
  /// ||F(u)|| / reference_norm of the first u and after every iteration.
  std::vector<double> history;
  /// Iterations of the linear solver in each iteration; one more where the last one failed.
  std::vector<int> linear_iterations;
  /// The share of each step that was taken: 1 without damping. Empty for picard.
  std::vector<double> damping;
  /// What happened, in a user's words; empty if the solve has converged.
  std::string failure;
};

/// What may help a solve that did not converge, in a user's words, most likely first.
std::vector<std::string> likely_remedies(const NonlinearReport& report,
                                         const NonlinearOptions& options);

/// Improves u until F(u) is small, by KINSOL of SUNDIALS.
///
/// newton: J(u) p = -F(u), u += lambda p. The tolerance of the linear solve is Eisenstat's and
/// Walker's second choice, 0.9 (||F|| / ||F of the iteration before||)^2, from 1e-4 to 0.9, and
/// lambda the largest of a line search by cubic interpolation with ||F||^2 / 2 falling by at least
/// 1e-4 of what the slope promises. Near a root with a regular Jacobian the error is squared in
/// each iteration, if the linear solves are exact enough. Vectors of the size of u: 7.
///
/// picard: u <- u - A(u)^-1 F(u), each solve to 1e-3, with Anderson's acceleration of depth m: the
/// combination of the last m + 1 iterates whose change is least. Where F is not finite at a
/// combination, the acceleration begins anew. It converges linearly where the map is a contraction,
/// often from further away than newton. Vectors: 8 + 3 m, without acceleration 4.
///
/// @returns a report, also of a failure; u is then the last iterate
/// @throws std::invalid_argument if an option is out of its range; what the system throws
template <class Space>
NonlinearReport solve_nonlinear(NonlinearSystem<Space>& system, const NonlinearOptions& options,
                                Vector<double, Space>& u);

}  // namespace tessera
