// InOtherUnits is a TimeSystem whose unknowns have another unit.
#pragma once

#include "solvers/time/time_system.hpp"

namespace tessera::testing {

/// The system of w / unit, with w in the place of it. With a power of 2 for the unit nothing is
/// rounded otherwise.
class InOtherUnits final : public TimeSystem<Host> {
 public:
  using V = HostVector<double>;

  InOtherUnits(TimeSystem<Host>& system, double unit) : system_(system), unit_(unit) {}

  std::int64_t size() const override { return system_.size(); }
  void evaluate(double t, const V& w, V& f) override {
    system_.evaluate(t, scaled(1.0 / unit_, w), f);
    copy(scaled(unit_, f), f);
  }
  void apply_mass(const V& x, V& y) override { system_.apply_mass(x, y); }
  SolveReport solve_mass(const V& b, V& x) override { return system_.solve_mass(b, x); }
  SolveReport solve_shifted(double t, double gamma, const V& b, double norm, V& x) override {
    return system_.solve_shifted(t, gamma, b, norm, x);
  }
  TimeDependence time_dependence() const override { return system_.time_dependence(); }
  bool is_linear() const override { return system_.is_linear(); }
  void linearize(double t, double gamma, const V& w) override {
    system_.linearize(t, gamma, scaled(1.0 / unit_, w));
  }
  SolveReport solve_linearized(double tolerance, const V& b, V& x) override {
    return system_.solve_linearized(tolerance, b, x);
  }
  double error_norm(const V& x) override { return system_.error_norm(x); }

 private:
  static V scaled(double factor, const V& x) {
    V y(x.size());
    fill(y, 0.0);
    axpy(factor, x, y);
    return y;
  }

  TimeSystem<Host>& system_;
  double unit_;
};

}  // namespace tessera::testing
