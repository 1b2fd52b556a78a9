// A TimeSystem is the system of ordinary differential equations that time integrators solve.
#pragma once

#include <cstdint>

#include "solvers/memory/vector.hpp"
#include "solvers/solver.hpp"

namespace tessera {

/// M w' = f(t, w), what the method of lines leaves, with M symmetric positive definite and f affine
/// in w: f(t, w) = b(t) - A(t) w. M does not depend on t.
///
/// Exceptions of these functions reach the caller of TimeIntegrator::step() as they are.
template <class Space>
class TimeSystem {
 public:
  virtual ~TimeSystem() = default;

  /// The size of all vectors below.
  virtual std::int64_t size() const = 0;
  /// f = f(t, w)
  virtual void evaluate(double t, const Vector<double, Space>& w, Vector<double, Space>& f) = 0;
  /// y = M x
  virtual void apply_mass(const Vector<double, Space>& x, Vector<double, Space>& y) = 0;
  /// Solves M x = b from the guess in x.
  virtual SolveReport solve_mass(const Vector<double, Space>& b, Vector<double, Space>& x) = 0;
  /// Solves (M + gamma A) x = b at time t from the guess in x, A = -df/dw. The integrators solve
  /// for the correction of a stage's predicted value, from 0, so that a tolerance relative to b
  /// asks for less where the predictor is better.
  virtual SolveReport solve_step(double t, double gamma, const Vector<double, Space>& b,
                                 Vector<double, Space>& x) = 0;
  /// ||x||, in which errors of steps are measured; NaN or an infinity if x has one.
  virtual double error_norm(const Vector<double, Space>& x) = 0;
};

}  // namespace tessera
