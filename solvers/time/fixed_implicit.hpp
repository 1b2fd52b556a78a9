// Diagonally implicit Runge-Kutta methods with steps of a fixed length, for linear systems.
#pragma once

#include <array>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "solvers/memory/dot_products.hpp"
#include "solvers/time/butcher_tables.hpp"
#include "solvers/time/fixed_steps.hpp"
#include "solvers/time/step_callbacks.hpp"
#include "solvers/time/time_integrator.hpp"

namespace tessera {

/// w += x_s, with the stages x_i = dt sum over j <= i of a_ij F_j, where M F_i = f(t_i, w + x_i).
/// What is kept of a stage is f_i = M F_i, so that nothing is solved with M:
///
///     (M / gamma + A) x_i = f(t_i, w) + sum over j < i of a_ij / a_ii f_j,   gamma = a_ii dt
///     f_i = M x_i / gamma - sum over j < i of a_ij / a_ii f_j
///
/// This asks for an M that does not depend on t where there are several stages. There is no error
/// to estimate, for which F itself would be needed, and SUNDIALS would pass over more vectors.
template <class Space>
class FixedImplicit final : public TimeIntegrator<Space> {
 public:
  using V = Vector<double, Space>;

  static bool is_for(const TimeSystem<Space>& system, const TimeOptions& options) {
    if (!options.step || !system.is_linear()) return false;
    return options.method == TimeMethod::backward_euler ||
           (options.method == TimeMethod::sdirk &&
            system.time_dependence() != TimeDependence::mass);
  }

  /// Holds two vectors, and one more for each stage but the last.
  FixedImplicit(TimeSystem<Space>& system, const TimeOptions& options, V& w)
      : table_(make_butcher_table(options.method, options.order, StepLength::fixed)),
        length_(*options.step),
        t_(options.start),
        system_(system),
        w_(w),
        callbacks_(system, options),
        b_(system.layout()),
        x_(system.layout()) {
    TESSERA_CHECK(ends_with_solution(*table_));
    for (int i = 0; i + 1 < stages(); ++i) rates_.emplace_back(system.layout());
  }

  double t() const override { return t_; }

  TimeStep step(double until) override {
    const FixedStep next = next_fixed_step(t_, until, length_);
    callbacks_.set_failure({});
    for (int i = 0; i < stages(); ++i) {
      const bool is_last = i + 1 == stages();
      // The end of a step may differ by rounding from what its length says.
      const double t = is_last ? next.end : t_ + table_->c[i] * next.dt;
      if (make_stage(i, t, next.dt) != kCallbackDone) {
        throw TimeStepError(t_, next.dt, callbacks_.take_failure());
      }
    }
    axpy(1.0, x_, w_);
    t_ = next.end;
    return {.t = t_,
            .dt = next.dt,
            .linear_iterations = callbacks_.take_iterations(),
            .next_dt = length_};
  }

 private:
  /// sum_j factors[j] f_j and other vectors, at most one of each stage and two more.
  class Sum {
   public:
    void add(double factor, const V& vector) {
      if (factor == 0.0) return;
      factors_.at(count_) = factor;
      vectors_.at(count_) = &vector;
      ++count_;
    }
    void compute(V& y) const {
      combine<double>({factors_.data(), count_}, {vectors_.data(), count_}, y);
    }

   private:
    std::size_t count_ = 0;
    std::array<double, kMaxCombinedVectors> factors_{};
    std::array<const V*, kMaxCombinedVectors> vectors_{};
  };

  int stages() const { return table_->stages; }

  // Adds factor * sum over j < i of a_ij / a_ii f_j.
  void add_history(int i, double factor, Sum& sum) const {
    for (int j = 0; j < i; ++j) sum.add(factor * table_->A[i][j] / table_->A[i][i], rates_[j]);
  }

  // Makes x_i, and f_i of all stages but the last.
  int make_stage(int i, double t, double dt) {
    const double gamma = table_->A[i][i] * dt;
    if (gamma == 0.0) {
      // The first stage is w.
      TESSERA_CHECK(i == 0);
      system_.evaluate(t, w_, rates_[0]);
      return kCallbackDone;
    }
    const double square = make_right_side(i, t);
    const int result = callbacks_.solve_shifted(t, gamma, b_, square, x_);
    if (result != kCallbackDone || i + 1 == stages()) return result;
    system_.apply_mass(x_, rates_[i]);
    Sum sum;
    sum.add(1.0 / gamma, rates_[i]);
    add_history(i, -1.0, sum);
    sum.compute(rates_[i]);
    return result;
  }

  // b = f(t, w) + sum over j < i of a_ij / a_ii f_j; returns b.b.
  double make_right_side(int i, double t) {
    if (i == 0) return system_.evaluate_and_square(t, w_, b_);
    Sum sum;
    const bool is_known =
        table_->A[0][0] == 0.0 && system_.time_dependence() == TimeDependence::nothing;
    if (!is_known) system_.evaluate(t, w_, b_);
    sum.add(1.0, is_known ? rates_[0] : b_);
    add_history(i, 1.0, sum);
    sum.compute(b_);
    const V* const b = &b_;
    double square = 0.0;
    dots_.sum({&b, 1}, b_, {&square, 1});
    return square;
  }

  SundialsHandle<ARKodeButcherTable> table_;
  double length_;
  double t_;
  TimeSystem<Space>& system_;
  V& w_;
  StepCallbacks<Space> callbacks_;
  std::vector<V> rates_;  // f_i
  V b_;
  V x_;
  DotProducts<Space> dots_{1};
};

}  // namespace tessera
