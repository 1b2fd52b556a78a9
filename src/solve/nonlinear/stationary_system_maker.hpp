// These templates compute residuals of non-linear cases and guard them against what u may be.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "mesh/errors.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/load/device_load.hpp"
#include "solvers/interruption.hpp"
#include "src/case/fields.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/solve/nonlinear/stationary_system.hpp"

namespace tessera {
template <class Space>
StationarySystem<Space>::StationarySystem(const CaseParameters& parameters,
                                          const PoissonProblem& problem,
                                          const Discretization& discretization, TimerTree& timers)
    : source_(problem.source),
      fluxes_(flux_terms(problem)),
      form_(stiffness_form(problem, discretization)),
      timers_(timers),
      residual_(discretization),
      linearization_(parameters, timers) {
  require_determined(parameters, form_);
}

template <class Space>
void StationarySystem<Space>::residual(const V& u, V& r) {
  const auto scope = timers_.scope("residual");
  try {
    if (!was_stopped_) residual_.compute(form_, source_, fluxes_, u, r);
  } catch (const BadFieldValue& error) {
    if (is_first_) throw;
    complaint_ = error.text();
    fill(r, std::numeric_limits<double>::quiet_NaN());
  } catch (const Interrupted&) {
    if (is_first_) throw;
    was_stopped_ = true;
  }
  // The iteration looks for shorter steps, and soon ends.
  if (was_stopped_) fill(r, std::numeric_limits<double>::quiet_NaN());
  is_first_ = false;
}

template <class Space>
double StationarySystem<Space>::size_at_zero(const V& u) {
  const auto scope = timers_.scope("residual");
  V values(layout());
  V r(layout());
  if constexpr (std::is_same_v<Space, Host>) {
    for_each_face_node(form_.discretization->lattice, form_.dirichlet,
                       [&](Index node) { values[node] = u[node]; });
  } else {
    copy(u, r);
    clear_constrained_rows(form_, r);
    copy(u, values);
    axpy(-1.0, r, values);
  }
  try {
    residual_.compute(form_, source_, fluxes_, values, r);
  } catch (const BadFieldValue&) {
    return 0.0;
  }
  const double norm = std::sqrt(dot(r, r));
  return std::isfinite(norm) ? norm : 0.0;
}

template <class Space>
void StationarySystem<Space>::linearize(const V& u) {
  const auto scope = timers_.scope("linearize");
  if (was_stopped_) return;
  // What was wrong on the way to this u is over.
  complaint_.clear();
  if (is_made_ && !linearization_.depends_on_u()) return;
  try {
    linearization_.set(form_, source_, u, Aging::kept_while_good);
    is_made_ = true;
  } catch (const Interrupted&) {
    was_stopped_ = true;
  }
  if (!linearization_.complaint().empty()) complaint_ = linearization_.complaint();
}

template <class Space>
SolveReport StationarySystem<Space>::solve(double tolerance, const V& b, V& x) {
  if (was_stopped_) {
    SolveReport report;
    report.status = SolveStatus::interrupted;
    return report;
  }
  SolveReport report = linearization_.solve(tolerance, b, x);
  was_indefinite_ = report.status == SolveStatus::indefinite;
  return report;
}

}  // namespace tessera
