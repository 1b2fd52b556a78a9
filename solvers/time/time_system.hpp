// A TimeSystem is the system of ordinary differential equations that time integrators solve.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "solvers/memory/vector.hpp"
#include "solvers/solver.hpp"

namespace tessera {

/// What of M w' = f(t, w) depends on t: nothing, f alone, or M as well.
enum class TimeDependence { nothing, right_side, mass };

/// M w' = f(t, w), what the method of lines leaves, with M symmetric positive definite. M may
/// depend on t: products and solves with it are at the t of the last evaluate(). A linear system
/// has f(t, w) = b(t) - A(t) w and solve_shifted(); others have linearize() and solve_linearized(),
/// where methods are implicit.
///
/// Exceptions of these functions reach the caller of TimeIntegrator::step() as they are. Where
/// ranks share the vectors, all of them call the functions together, and an exception is one on
/// every rank.
template <class Space>
class TimeSystem {
 public:
  virtual ~TimeSystem() = default;

  /// The size of all vectors below.
  virtual std::int64_t size() const = 0;
  /// Their layout.
  virtual VectorLayout layout() const { return VectorLayout(size()); }
  /// f = f(t, w)
  virtual void evaluate(double t, const Vector<double, Space>& w, Vector<double, Space>& f) = 0;
  /// The same; returns f.f.
  virtual double evaluate_and_square(double t, const Vector<double, Space>& w,
                                     Vector<double, Space>& f) {
    evaluate(t, w, f);
    return dot(f, f);
  }
  /// y = M x
  virtual void apply_mass(const Vector<double, Space>& x, Vector<double, Space>& y) = 0;
  /// Solves M x = b for b other than 0; what x holds does not matter.
  virtual SolveReport solve_mass(const Vector<double, Space>& b, Vector<double, Space>& x) = 0;
  /// Solves (M / gamma + A) x = b at time t, A = -df/dw; what x holds does not matter. The
  /// integrators solve for the correction of a stage's predicted value, so that a tolerance
  /// relative to b asks for less where the predictor is better.
  /// @param norm of b, which is not 0
  virtual SolveReport solve_shifted(double t, double gamma, const Vector<double, Space>& b,
                                    double norm, Vector<double, Space>& x) = 0;

  /// What of it depends on t. Of what does not, the integrators use the values of one time at
  /// others.
  virtual TimeDependence time_dependence() const { return TimeDependence::mass; }
  /// Whether f is affine in w.
  virtual bool is_linear() const { return true; }
  /// Takes the point of J = M - gamma df/dw, or of an approximation of it. The next solves are with
  /// this J.
  virtual void linearize(double /*t*/, double /*gamma*/, const Vector<double, Space>& /*w*/) {
    throw std::logic_error("a system in time that is not linear has no derivative");
  }
  /// Solves J x = b to the relative tolerance from x = 0.
  virtual SolveReport solve_linearized(double /*tolerance*/, const Vector<double, Space>& /*b*/,
                                       Vector<double, Space>& /*x*/) {
    throw std::logic_error("a system in time that is not linear has no solver");
  }

  /// ||x||, in which errors of steps are measured; NaN or an infinity if x has one. Of a vector
  /// that ranks share it has the same bits on all of them.
  virtual double error_norm(const Vector<double, Space>& x) = 0;
};

}  // namespace tessera
