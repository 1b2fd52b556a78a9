// A HeatInABar is a small stiff TimeSystem whose solution is known.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>

#include "solvers/time/time_system.hpp"

namespace tessera::testing {

/// Linear elements for heat in a bar with a heat transfer that changes in time,
/// M w' = b(t) - (1 + sin(t) / 2) K w, on n inner nodes. The source is such that
/// w_i(t) = cos(3 t) sin(pi x_i) + exp(-t) p_i with a profile p that `roughness` makes jump from
/// node to node: stiff components of the solution move, as they do with moving Dirichlet values.
class HeatInABar : public TimeSystem<Host> {
 public:
  using Matrix = Eigen::MatrixXd;
  using Values = Eigen::VectorXd;

  explicit HeatInABar(int n, double roughness = 0.0)
      : mass_(Matrix::Zero(n, n)), stiffness_(Matrix::Zero(n, n)), smooth_(n), profile_(n) {
    const double h = 1.0 / (n + 1);
    for (int i = 0; i < n; ++i) {
      mass_(i, i) = 4.0 * h / 6.0;
      stiffness_(i, i) = 2.0 / h;
      if (i > 0) {
        mass_(i, i - 1) = mass_(i - 1, i) = h / 6.0;
        stiffness_(i, i - 1) = stiffness_(i - 1, i) = -1.0 / h;
      }
      const double x = (i + 1) * h;
      smooth_[i] = std::sin(std::numbers::pi * x);
      profile_[i] = x * (1.0 - x) + (i % 2 == 0 ? roughness : -roughness);
    }
    factored_mass_.compute(mass_);
  }

  Values exact(double t) const { return std::cos(3.0 * t) * smooth_ + std::exp(-t) * profile_; }
  HostVector<double> at(double t) const {
    HostVector<double> w(size());
    map(w) = exact(t);
    return w;
  }
  /// ||w - w(t)||
  double error(double t, const HostVector<double>& w) {
    HostVector<double> difference(size());
    map(difference) = map(w) - exact(t);
    return error_norm(difference);
  }

  std::int64_t size() const override { return smooth_.size(); }

  void evaluate(double t, const HostVector<double>& w, HostVector<double>& f) override {
    ++evaluations;
    if (before_evaluation) before_evaluation(t);
    const Values rate = -3.0 * std::sin(3.0 * t) * smooth_ - std::exp(-t) * profile_;
    map(f) = mass_ * rate + transfer(t) * (stiffness_ * (exact(t) - map(w)));
  }
  void apply_mass(const HostVector<double>& x, HostVector<double>& y) override {
    ++mass_applications;
    map(y) = mass_ * map(x);
  }
  SolveReport solve_mass(const HostVector<double>& b, HostVector<double>& x) override {
    ++mass_solves;
    map(x) = factored_mass_.solve(map(b));
    return report(mass_status);
  }
  TimeDependence time_dependence() const override { return dependence; }
  SolveReport solve_shifted(double t, double gamma, const HostVector<double>& b, double norm,
                            HostVector<double>& x) override {
    EXPECT_NEAR(norm, map(b).norm(), 1e-13 * norm);
    ++step_solves;
    last_gamma = gamma;
    map(x) = (mass_ / gamma + transfer(t) * stiffness_).ldlt().solve(map(b));
    return report(step_status);
  }
  double error_norm(const HostVector<double>& x) override {
    return std::sqrt(map(x).dot(mass_ * map(x)));
  }

  /// What the system says of itself.
  TimeDependence dependence = TimeDependence::right_side;
  int evaluations = 0;
  int mass_applications = 0;
  int mass_solves = 0;
  int step_solves = 0;
  double last_gamma = 0.0;
  SolveStatus mass_status = SolveStatus::converged;
  SolveStatus step_status = SolveStatus::converged;
  std::function<void(double t)> before_evaluation;

 private:
  static double transfer(double t) { return 1.0 + 0.5 * std::sin(t); }
  static Eigen::Map<Values> map(HostVector<double>& x) { return {x.data(), x.size()}; }
  static Eigen::Map<const Values> map(const HostVector<double>& x) { return {x.data(), x.size()}; }
  static SolveReport report(SolveStatus status) {
    SolveReport made;
    made.status = status;
    made.iterations = 1;
    made.true_relative_residual = 1e-3;
    return made;
  }

  Matrix mass_;
  Matrix stiffness_;
  Values smooth_;
  Values profile_;
  Eigen::LDLT<Matrix> factored_mass_;
};

}  // namespace tessera::testing
