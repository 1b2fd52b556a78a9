// A TimeIntegrator solves M w' = f(t, w) step by step.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "solvers/memory/vector.hpp"
#include "solvers/time/time_method.hpp"
#include "solvers/time/time_system.hpp"

namespace tessera {

struct TimeOptions {
  TimeMethod method = TimeMethod::sdirk;
  /// The order of the method: backward-euler 1, sdirk and explicit-rk 2 to 4; the largest order
  /// that bdf may choose, 1 to 5.
  int order = 3;
  /// The time of the first w.
  double start = 0.0;
  /// The length of all steps; without it steps adapt to the tolerance. bdf has no fixed steps.
  std::optional<double> step = std::nullopt;
  /// ||estimated error of an adaptive step|| <= max(absolute_tolerance, tolerance * ||w||), in
  /// TimeSystem::error_norm(), with w of its beginning: relative to w, and absolute where w is
  /// small.
  double tolerance = 1e-6;
  /// Without it as much as `tolerance`.
  std::optional<double> absolute_tolerance = std::nullopt;
  /// No adaptive step is longer.
  std::optional<double> max_step = std::nullopt;
  /// The length of the first adaptive step; without it, it is estimated.
  std::optional<double> first_step = std::nullopt;
  /// Of implicit methods for systems that are not linear: the iteration for a stage has converged
  /// when what is left is estimated as nonlinear_tolerance times the larger of ||w|| and ||w of the
  /// stage|| at most, and in adaptive steps as a hundredth of the error allowed to the step; so
  /// many iterations are tried.
  double nonlinear_tolerance = 1e-10;
  int max_nonlinear_iterations = 20;
};

/// What a step did.
struct TimeStep {
  double t = 0.0;   // at its end
  double dt = 0.0;  // its length
  /// ||estimated error of the step|| in TimeSystem::error_norm(); NaN if there is no estimate.
  double error_estimate = std::numeric_limits<double>::quiet_NaN();
  /// ||w|| at its beginning, of adaptive steps; NaN of others.
  double size = std::numeric_limits<double>::quiet_NaN();
  /// Iterations of all solves, those of rejected steps included.
  int linear_iterations = 0;
  /// Of stages of systems that are not linear, those of rejected steps included.
  int nonlinear_iterations = 0;
  /// How many attempts were rejected before this step was taken.
  int rejected = 0;
  /// The length that the method would give to the next step: the first_step of an integration that
  /// goes on from here.
  double next_dt = 0.0;
};

/// A step could not be made; what() says at which time and why, in a user's words.
class TimeStepError : public std::runtime_error {
 public:
  /// @param t the time that was reached
  /// @param dt the length of the step that failed
  TimeStepError(double t, double dt, const std::string& reason);

  double t() const { return t_; }
  double dt() const { return dt_; }

 private:
  double t_;
  double dt_;
};

/// Integrates a system from a start; make_time_integrator() makes one. The vector w that it was
/// made with has w(t) after every step.
template <class Space>
class TimeIntegrator {
 public:
  virtual ~TimeIntegrator() = default;

  /// One step of the method. `until` is never passed, and is hit to the bit by the step that would
  /// otherwise end beyond it.
  /// @throws TimeStepError; std::invalid_argument unless until > t(); what the system throws. After
  ///     an exception w is as before the step (of bdf up to rounding), and this object can no
  ///     longer be used.
  virtual TimeStep step(double until) = 0;
  /// The time of w.
  virtual double t() const = 0;
};

/// @param system and
/// @param w have to outlive the integrator; w is w(options.start) at first
/// @throws std::invalid_argument if the method has no such order or no fixed steps, or a number is
///     not in its range; std::bad_alloc, DeviceOutOfMemory
template <class Space>
std::unique_ptr<TimeIntegrator<Space>> make_time_integrator(TimeSystem<Space>& system,
                                                            const TimeOptions& options,
                                                            Vector<double, Space>& w);

}  // namespace tessera
