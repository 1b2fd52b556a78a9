// These are systems to solve: the problem of Bratu on a line, by differences.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "solvers/nonlinear/nonlinear_solver.hpp"
#include "tests/vectors.hpp"

namespace tessera::testing {

/// What a linear solver reports.
inline SolveReport answered(SolveStatus status, int iterations, double residual = 0.0) {
  SolveReport report;
  report.status = status;
  report.iterations = iterations;
  report.true_relative_residual = residual;
  return report;
}

/// -u'' = strength e^u on (0, 1), u = 0 at its ends, at n inner nodes. There is a solution up to
/// strength 3.51. Systems are tridiagonal, and solved exactly.
class Bratu : public NonlinearSystem<Host> {
 public:
  Bratu(std::int64_t n, double strength, NonlinearMethod method)
      : n_(n), strength_(strength), method_(method), shift_(static_cast<std::size_t>(n)) {}

  std::int64_t size() const override { return n_; }
  void residual(const HostVector<double>& u, HostVector<double>& r) override {
    ++residuals;
    for (std::int64_t i = 0; i < n_; ++i) {
      r[i] = (2.0 * u[i] - at(u, i - 1) - at(u, i + 1)) / (h() * h()) - strength_ * std::exp(u[i]);
    }
  }
  void linearize(const HostVector<double>& u) override {
    const double change = method_ == NonlinearMethod::newton ? strength_ : 0.0;
    for (std::int64_t i = 0; i < n_; ++i) shift_[i] = change * std::exp(u[i]);
  }
  SolveReport solve(double tolerance, const HostVector<double>& b, HostVector<double>& x) override {
    tolerances.push_back(tolerance);
    std::vector<double> diagonal(shift_.size());
    const double off = -1.0 / (h() * h());
    for (std::int64_t i = 0; i < n_; ++i) {
      diagonal[i] = -2.0 * off - shift_[i];
      x[i] = b[i];
      if (i == 0) continue;
      const double factor = off / diagonal[i - 1];
      diagonal[i] -= factor * off;
      x[i] -= factor * x[i - 1];
    }
    for (std::int64_t i = n_ - 1; i >= 0; --i) {
      x[i] = (x[i] - (i + 1 < n_ ? off * x[i + 1] : 0.0)) / diagonal[i];
    }
    return answered(SolveStatus::converged, 7);
  }

  /// The lower of the two solutions of the differential equation, in the middle.
  static double middle(double strength) {
    double theta = 1.0;
    for (int i = 0; i < 200; ++i) theta = std::sqrt(2.0 * strength) * std::cosh(theta / 4.0);
    return 2.0 * std::log(std::cosh(theta / 4.0));
  }

  int residuals = 0;
  std::vector<double> tolerances;

 private:
  double h() const { return 1.0 / static_cast<double>(n_ + 1); }
  double at(const HostVector<double>& u, std::int64_t i) const {
    return i < 0 || i >= n_ ? 0.0 : u[i];
  }

  std::int64_t n_;
  double strength_;
  NonlinearMethod method_;
  std::vector<double> shift_;
};

}  // namespace tessera::testing
