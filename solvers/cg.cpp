#include "solvers/cg.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/stagnation.hpp"

namespace tessera {

std::string_view status_name(SolveStatus status) {
  switch (status) {
    case SolveStatus::converged:
      return "converged";
    case SolveStatus::iteration_limit:
      return "iteration limit";
    case SolveStatus::stagnated:
      return "stagnated";
    case SolveStatus::indefinite:
      return "indefinite operator";
    case SolveStatus::not_finite:
      return "not finite";
    case SolveStatus::interrupted:
      return "interrupted";
  }
  return "unknown";
}

template <class T, class Space>
SolveReport cg(const LinearOperator<T, Space>& a, const Preconditioner<T, Space>* preconditioner,
               const Vector<T, Space>& b, Vector<T, Space>& x, const CgOptions& options) {
  SolveReport report;
  Vector<T, Space> r(a.size());
  Vector<T, Space> p(a.size());
  Vector<T, Space> q(a.size());
  const FusedForms<T, Space>* fused = preconditioner == nullptr ? a.fused() : nullptr;
  Vector<T, Space> preconditioned(preconditioner != nullptr ? a.size() : 0);
  Vector<T, Space>& z = preconditioner != nullptr ? preconditioned : r;

  const auto residual_norm = [&] {
    if (fused != nullptr) {
      double rr = 0.0;
      fused->residual(b, x, r, &rr);
      return std::sqrt(rr);
    }
    a.apply(x, r);
    return std::sqrt(subtract_from(b, r));
  };
  // r.z, with r.r known.
  const auto precondition = [&](double rr) {
    if (preconditioner == nullptr) return rr;
    preconditioner->apply(r, z);
    return dot(r, z);
  };

  double norm_r = residual_norm();
  const double reference = options.reference_norm > 0.0 ? options.reference_norm : norm_r;
  const double scale = reference > 0.0 ? 1.0 / reference : 0.0;
  const auto finish = [&](SolveStatus status) {
    report.status = status;
    report.true_relative_residual = residual_norm() * scale;
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

  double rz = precondition(norm_r * norm_r);
  copy(z, p);
  StagnationMonitor monitor;
  int restarts = 0;
  while (report.iterations < options.max_iterations) {
    double dots[2] = {};
    if (fused != nullptr) {
      fused->apply_dot(p, q, dots);
    } else {
      a.apply(p, q);
      dots[0] = dot(p, q);
    }
    const double pq = dots[0];
    if (!std::isfinite(pq)) return finish(SolveStatus::not_finite);
    if (pq <= 0.0) return finish(SolveStatus::indefinite);
    const double alpha = rz / pq;
    if (fused != nullptr) {
      // Rounding may make it negative where r all but vanishes.
      const double beta = std::max(0.0, alpha * alpha * dots[1] / rz - 1.0);
      norm_r = std::sqrt(update_all(static_cast<T>(alpha), static_cast<T>(beta), q, x, r, p));
    } else {
      norm_r = std::sqrt(update_solution_and_residual(static_cast<T>(alpha), p, q, x, r));
    }
    ++report.iterations;
    const double relative = norm_r * scale;
    report.history.push_back(relative);
    if (!std::isfinite(relative)) return finish(SolveStatus::not_finite);
    if (relative <= options.relative_tolerance) {
      norm_r = residual_norm();
      report.true_relative_residual = norm_r * scale;
      if (report.true_relative_residual <= kTrueResidualSlack * options.relative_tolerance) {
        report.status = SolveStatus::converged;
        if (options.observer) options.observer(report.iterations, relative);
        return report;
      }
      if (options.observer && options.observer(report.iterations, relative) == Continue::no) {
        return finish(SolveStatus::interrupted);
      }
      if (++restarts > kMostRestarts) {
        report.status = SolveStatus::stagnated;
        return report;
      }
      rz = precondition(norm_r * norm_r);
      copy(z, p);
      continue;
    }
    if (options.observer && options.observer(report.iterations, relative) == Continue::no) {
      return finish(SolveStatus::interrupted);
    }
    if (monitor.stagnates(report.iterations, relative, alpha * rz))
      return finish(SolveStatus::stagnated);
    const double rz_next = precondition(norm_r * norm_r);
    if (fused == nullptr) xpby(z, static_cast<T>(rz_next / rz), p);
    rz = rz_next;
  }
  return finish(SolveStatus::iteration_limit);
}

template SolveReport cg(const LinearOperator<double, Host>&, const Preconditioner<double, Host>*,
                        const HostVector<double>&, HostVector<double>&, const CgOptions&);
template SolveReport cg(const LinearOperator<float, Host>&, const Preconditioner<float, Host>*,
                        const HostVector<float>&, HostVector<float>&, const CgOptions&);

}  // namespace tessera
