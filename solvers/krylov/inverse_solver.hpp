// An InverseSolver solves A x = b where the inverse of A is known but for rounding.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "solvers/preconditioner.hpp"
#include "solvers/preconditioners/residual.hpp"
#include "solvers/solver.hpp"

namespace tessera {

/// x = M b with M = A^-1 but for rounding, and a look at b - A x: Richardson's iteration from 0,
/// which applies A once and passes over 4 vectors beside M. Where rounding leaves more than the
/// tolerance, as it does with very many unknowns, another method goes on from there.
///
/// A guess in x is of no use; it counts where the tolerance is relative to its residual.
template <class T, class Space>
class InverseSolver final : public Solver<T, Space> {
 public:
  using V = Vector<T, Space>;
  /// Makes the other method's solver, when it is needed first.
  using MakeSolver = std::function<std::unique_ptr<Solver<T, Space>>()>;

  /// Holds a vector. Operator and preconditioner are referred to.
  InverseSolver(const LinearOperator<T, Space>& a, const Preconditioner<T, Space>& m,
                MakeSolver make_other)
      : a_(a), m_(m), make_other_(std::move(make_other)), r_(a.layout()), scalar_(1) {
    TESSERA_CHECK(m.size() == a.size());
  }

  std::int64_t size() const override { return a_.size(); }
  void update() override {
    if (other_ != nullptr) other_->update();
  }

  SolveReport do_solve(const V& b, V& x, const SolveOptions& options) override {
    if (options.max_iterations == 0 ||
        (options.guess == Guess::any && !(options.reference_norm > 0.0))) {
      return other().solve(b, x, options);
    }
    SolveReport report;
    const double given = options.reference_norm;
    report.reference_norm = given > 0.0 ? given : std::sqrt(dot(b, b));
    if (report.reference_norm == 0.0) {
      fill(x, T{0});
      report.history = {0.0};
      return ended(SolveStatus::converged, report);
    }
    m_.apply(b, x);
    const double left = std::sqrt(residual_square(a_, b, x, r_, scalar_)) / report.reference_norm;
    report.iterations = 1;
    report.history = {1.0, left};
    report.true_relative_residual = left;
    if (!std::isfinite(left)) return ended(SolveStatus::not_finite, report);
    const bool goes_on =
        !options.observer || !on_any_rank(a_.layout(), options.observer(1, left) == Continue::no);
    if (left <= options.relative_tolerance) return ended(SolveStatus::converged, report);
    if (!goes_on) return ended(SolveStatus::interrupted, report);
    if (options.max_iterations == 1) return ended(SolveStatus::iteration_limit, report);
    return improved(b, x, options, std::move(report));
  }

 private:
  static SolveReport ended(SolveStatus status, SolveReport& report) {
    report.status = status;
    return std::move(report);
  }

  SolveReport improved(const V& b, V& x, const SolveOptions& options, SolveReport report) {
    SolveOptions rest = options;
    rest.guess = Guess::any;
    rest.reference_norm = report.reference_norm;
    rest.max_iterations = options.max_iterations - 1;
    if (options.observer) {
      rest.observer = [&options](int iteration, double relative) {
        return options.observer(iteration + 1, relative);
      };
    }
    const SolveReport more = other().solve(b, x, rest);
    report.status = more.status;
    report.iterations += more.iterations;
    // It begins with the residual that is known.
    report.history.insert(report.history.end(), more.history.begin() + 1, more.history.end());
    report.true_relative_residual = more.true_relative_residual;
    return report;
  }

  Solver<T, Space>& other() {
    if (other_ == nullptr) other_ = make_other_();
    return *other_;
  }

  const LinearOperator<T, Space>& a_;
  const Preconditioner<T, Space>& m_;
  MakeSolver make_other_;
  std::unique_ptr<Solver<T, Space>> other_;
  V r_;
  Vector<double, Space> scalar_;
};

}  // namespace tessera
