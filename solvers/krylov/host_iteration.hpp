// This is the loop that all methods share on the host, with all of its endings.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "solvers/krylov/cg.hpp"
#include "solvers/krylov/stagnation.hpp"

namespace tessera {

/// One iteration's outcome.
struct Step {
  /// The squared norm of the residual by recurrence, and the gain in the squared energy norm of the
  /// error; both are set if the iteration was completed.
  double rr = 0.0;
  double energy = 0.0;
  /// What prevented the iteration, which then does not count.
  std::optional<SolveStatus> failure = std::nullopt;
  /// Rounding spoiled the recurrences before they made a step: the iteration has to start again
  /// from b - A x.
  bool broken_down = false;
};

/// A x = b with vectors on the host, as all iterations see it.
template <class T>
class HostSystem {
 public:
  using V = HostVector<T>;

  HostSystem(const LinearOperator<T, Host>& a, const Preconditioner<T, Host>* m)
      : a_(a), m_(m), kind_(kind_of(m)) {
    TESSERA_CHECK(m == nullptr || m->size() == a.size());
  }
  /// Sets right-hand side and solution of the next solve.
  void bind(const V& b, V& x) {
    b_ = &b;
    x_ = &x;
  }

  std::int64_t size() const { return a_.size(); }
  /// n if the vector is needed, else 0: some vectors are for one kind of preconditioner only.
  std::int64_t size_if(bool needed) const { return needed ? size() : 0; }
  PreconditionerKind kind() const { return kind_; }
  const LinearOperator<T, Host>& a() const { return a_; }
  const Preconditioner<T, Host>& m() const { return *m_; }
  V& x() const { return *x_; }
  /// The entries of M if it is diagonal, else null.
  const T* diagonal() const {
    return kind_ == PreconditionerKind::diagonal ? m_->as_diagonal()->data() : nullptr;
  }
  /// r = b - A x; returns r.r.
  double residual(V& r) const {
    if (const FusedOperations<T, Host>* const fused = a_.fused(); fused != nullptr) {
      double rr = 0.0;
      fused->residual(*b_, *x_, r, &rr);
      return rr;
    }
    a_.apply(*x_, r);
    return subtract_from(*b_, r);
  }
  /// y = A v; returns v.y and, if the operator has fused operations, y.y.
  std::array<double, 2> apply_dot(const V& v, V& y) const {
    double sums[2] = {};
    if (const FusedOperations<T, Host>* const fused = a_.fused(); fused != nullptr) {
      fused->apply_dot(v, y, sums);
    } else {
      a_.apply(v, y);
      sums[0] = dot(v, y);
    }
    return {sums[0], sums[1]};
  }

 private:
  const LinearOperator<T, Host>& a_;
  const Preconditioner<T, Host>* m_;
  PreconditionerKind kind_;
  const V* b_ = nullptr;
  V* x_ = nullptr;
};

/// What all iterations on the host have.
template <class T>
class HostIteration {
 public:
  HostIteration(const LinearOperator<T, Host>& a, const Preconditioner<T, Host>* m)
      : system_(a, m), r_(a.size()) {}

  HostSystem<T>& system() { return system_; }
  const HostSystem<T>& system() const { return system_; }
  /// Computes r = b - A x and returns its norm.
  double residual_norm() {
    rr_ = system_.residual(r_);
    return std::sqrt(rr_);
  }
  /// The iteration has diverged if the residual is more than this many times the initial one.
  double max_growth() const { return std::numeric_limits<double>::infinity(); }

 protected:
  PreconditionerKind kind() const { return system_.kind(); }
  /// The residual by recurrence, and its square.
  HostVector<T>& residual() { return r_; }
  const HostVector<T>& residual() const { return r_; }
  double& residual_square() { return rr_; }
  double residual_square() const { return rr_; }

 private:
  HostSystem<T> system_;
  HostVector<T> r_;
  double rr_ = 0.0;
};

/// What prevents a step along p, for which p.Ap must be positive and finite.
inline std::optional<SolveStatus> failure_of(double pq) {
  if (!std::isfinite(pq)) return SolveStatus::not_finite;
  if (pq <= 0.0) return SolveStatus::indefinite;
  return std::nullopt;
}

/// Iterates to the end as the options say. All solvers on the host end here.
/// @param iteration a HostIteration that has
///   void start()              begins anew from r = b - A x
///   Step step()               does one iteration
///   void replace_residual()   computes r = b - A x, from which the iteration goes on
template <class Iteration>
SolveReport run_on_host(Iteration& iteration, const SolveOptions& options) {
  SolveReport report;
  double norm_r = iteration.residual_norm();
  const double reference = options.reference_norm > 0.0 ? options.reference_norm : norm_r;
  const double scale = reference > 0.0 ? 1.0 / reference : 0.0;
  report.reference_norm = reference;
  const auto finish = [&](SolveStatus status) {
    report.status = status;
    report.true_relative_residual = iteration.residual_norm() * scale;
    return report;
  };
  report.history.push_back(norm_r * scale);
  report.true_relative_residual = norm_r * scale;
  if (!std::isfinite(norm_r)) {
    report.status = SolveStatus::not_finite;
    return report;
  }
  if (norm_r * scale <= options.relative_tolerance) {
    report.status = SolveStatus::converged;
    return report;
  }

  StagnationMonitor monitor;
  double target = options.relative_tolerance;
  int restarts = 0;
  int since_replacement = 0;
  const double most = iteration.max_growth() * norm_r * scale;
  // Computes the residual anew, and returns whether it ends the solve.
  const auto is_true = [&] {
    report.true_relative_residual = iteration.residual_norm() * scale;
    return report.true_relative_residual <= options.relative_tolerance;
  };
  iteration.start();
  while (report.iterations < options.max_iterations) {
    if (options.replacement_interval > 0 && since_replacement == options.replacement_interval) {
      iteration.replace_residual();
      since_replacement = 0;
    }
    const Step step = iteration.step();
    if (step.failure) return finish(*step.failure);
    bool restart = step.broken_down;
    bool converged = restart && is_true();
    if (!step.broken_down) {
      ++report.iterations;
      ++since_replacement;
      const double relative = std::sqrt(step.rr) * scale;
      report.history.push_back(relative);
      if (!std::isfinite(relative)) return finish(SolveStatus::not_finite);
      restart = relative <= target;
      converged = restart && is_true();
      const bool goes_on =
          !options.observer || options.observer(report.iterations, relative) == Continue::yes;
      if (!converged) {
        if (!goes_on) return finish(SolveStatus::interrupted);
        if (relative > most) return finish(SolveStatus::diverged);
        if (!restart && monitor.stagnates(report.iterations, relative, step.energy)) {
          return finish(SolveStatus::stagnated);
        }
      }
    }
    if (!restart) continue;
    if (converged || ++restarts > kMaxRestarts) {
      report.status = converged ? SolveStatus::converged : SolveStatus::stagnated;
      return report;
    }
    const double trusted = kTrueResidualSlack * options.relative_tolerance;
    if (step.broken_down || report.true_relative_residual > trusted) {
      iteration.start();
    } else {
      target = tightened_target(target, options.relative_tolerance, report.true_relative_residual);
      iteration.replace_residual();
    }
    since_replacement = 0;
  }
  return finish(SolveStatus::iteration_limit);
}

/// An iteration on the host as a Solver.
template <class T, class Iteration>
class HostSolver final : public Solver<T, Host> {
 public:
  template <class... Arguments>
  explicit HostSolver(const Arguments&... arguments) : iteration_(arguments...) {}

  std::int64_t size() const override { return iteration_.system().size(); }
  SolveReport do_solve(const HostVector<T>& b, HostVector<T>& x,
                       const SolveOptions& options) override {
    iteration_.system().bind(b, x);
    return run_on_host(iteration_, options);
  }

 private:
  Iteration iteration_;
};

template <class Iteration, class T, class... More>
std::unique_ptr<Solver<T, Host>> make_host_solver(const LinearOperator<T, Host>& a,
                                                  const Preconditioner<T, Host>* m,
                                                  const More&... more) {
  return std::make_unique<HostSolver<T, Iteration>>(a, m, more...);
}

}  // namespace tessera
