// These templates make and apply what the finite elements leave of a case in time.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "operators/form/constrained_rows.hpp"
#include "operators/form/updatable.hpp"
#include "operators/load/load_vector.hpp"
#include "operators/strategy.hpp"
#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"
#include "solvers/krylov/inverse_solver.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/preconditioners/residual.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/strategy.hpp"
#include "src/solve/application_time.hpp"
#include "src/solve/method.hpp"
#include "src/solve/residual_size.hpp"
#include "src/solve/time/diffusion.hpp"
#include "src/solve/time/stable_steps.hpp"
#include "src/solve/vector_conversion.hpp"

namespace tessera {

// What gamma may differ by from that of an operator: far less than the error of a solve.
inline constexpr double kGammaSpread = 1e-2;
// What gamma may be, as a multiple of that of the preconditioner. With less, the mass counts more
// and eigenvalues grow, beyond the range of smoothers; with more, iterations do.
inline constexpr double kMinGammaRatio = 0.88;
inline constexpr double kMaxGammaRatio = 1.25;

template <class Space>
Diffusion<Space>::Diffusion(const CaseParameters& parameters, const ProblemInTime& problem,
                            const Discretization& discretization, const NaturalUnits& units,
                            TimerTree& timers)
    : parameters_(parameters),
      problem_(problem),
      discretization_(discretization),
      units_(units),
      timers_(timers),
      mass_(parameters, problem_at(parameters.time->start), discretization, timers),
      mass_time_(parameters.time->start) {
  const double start = parameters.time->start;
  if (is_nonlinear(parameters)) {
    form_ = stiffness_form(problem_at(start), discretization);
    mass_.make();
    nonlinear_.emplace(parameters, problem, discretization, units, mass_.form(), timers);
    return;
  }
  make_form_operator(start);
  mass_.make();
  load_.emplace(problem, discretization, units, mass_.is_lumped() ? nullptr : &mass_.form());
}

template <class Space>
void Diffusion<Space>::make_form_operator(double t) {
  const auto scope = timers_.scope("operator");
  // Null if it fails.
  auto a = std::move(a_);
  form_ = stiffness_form(problem_at(t), discretization_);
  form_time_ = t;
  if (a == nullptr || update_in_place(*a, form_) == Updated::no) {
    // What is to be made anew is given back first: both together may not fit.
    a = nullptr;
    a = make_operator<double, Space>(case_strategy(parameters_), form_);
  }
  a_ = std::move(a);
}

template <class Space>
void Diffusion<Space>::require_stable_steps(double start) {
  const TimeParameters& time = *parameters_.time;
  if (!time.step || time.method != TimeMethod::explicit_rk || nonlinear_) return;
  const auto scope = timers_.scope("stability of steps");
  // Constrained nodes have no part in it.
  HostVector<double> is_free(layout());
  fill(is_free, 1.0);
  clear_constrained(is_free);
  const V free = moved_to<Space>(std::move(is_free));
  V inverse(layout());
  double longest = std::numeric_limits<double>::infinity();
  double where = start;
  const auto look_at = [&](double t) {
    multiply(mass_.lumped_inverse(), free, inverse);
    const double dt = longest_stable_step(*a_, inverse, time.order);
    if (dt < longest) {
      longest = dt;
      where = t;
    }
  };
  if (!problem_.step_depends_on_time()) {
    look_at(start);
    return require_stable_step(time, longest, "");
  }
  // Between start and end neither periods nor simple fractions meet them.
  constexpr int kBetween = 6;
  constexpr double kGolden = 0.6180339887498949;
  std::vector<double> shares = {0.0, 1.0};
  for (int i = 1; i <= kBetween; ++i) shares.push_back(std::fmod(i * kGolden, 1.0));
  for (const double share : shares) {
    const double t = start + share * (time.end - start);
    try {
      if (problem_.form_depends_on_time() && t != form_time_) make_form_operator(t);
      move_mass(t);
    } catch (const BadFieldValue&) {
      // Steps will end there.
      continue;
    }
    look_at(t);
  }
  require_stable_step(time, longest, fmt::format(" at t = {:.4g}", where));
}

template <class Space>
void Diffusion<Space>::move_mass(double t) {
  if (!problem_.capacity_depends_on_time() || t == mass_time_) return;
  const PoissonProblem problem = problem_at(t);
  mass_time_ = t;
  mass_.move(problem);
}

template <class Space>
void Diffusion<Space>::prepare_step_operator(double t, double gamma) {
  // Between times of output, steps of the same length differ by rounding.
  const double spread = kGammaSpread * parameters_.solver.relative_tolerance;
  if (step_.solver != nullptr && std::abs(step_.gamma - gamma) <= spread * gamma &&
      (step_.t == t || !problem_.step_depends_on_time())) {
    return;
  }
  const auto scope = timers_.scope("operator of steps");
  stop_if_requested();
  move_mass(t);
  step_.t = t;
  step_.gamma = gamma;
  BilinearForm form = with_mass(
      problem_.form_depends_on_time() ? stiffness_form(problem_at(t), discretization_) : form_,
      mass_.capacity(), 1.0 / gamma);
  try {
    if (update_step_operator(form) == Updated::no) make_step_operator(std::move(form));
  } catch (...) {
    step_ = {};
    throw;
  }
}

template <class Space>
void Diffusion<Space>::make_step_operator(BilinearForm form) {
  // What is to be made anew is given back first: both together may not fit.
  step_ = StepOperator(step_.t, step_.gamma);
  step_.form = std::make_unique<BilinearForm>(std::move(form));
  step_.a = make_operator<double, Space>(case_strategy(parameters_), *step_.form);
  const SolverParameters& solver = parameters_.solver;
  if (solver.preconditioner != kNoPreconditioner) {
    step_.preconditioner = make_preconditioner<double, Space>(
        {parameters_, *step_.form, *step_.a, step_.residual_size});
  }
  const auto* const m = step_.preconditioner.preconditioner.get();
  const auto make = [&solver, &a = *step_.a, m] {
    return make_solver(solver.method, a, m, relaxation(solver.method, a, m), solver.restart);
  };
  if (step_.preconditioner.exactness == Exactness::exact) {
    step_.solver = std::make_unique<InverseSolver<double, Space>>(*step_.a, *m, make);
  } else {
    step_.solver = make();
  }
}

template <class Space>
Updated Diffusion<Space>::update_step_operator(const BilinearForm& form) {
  // The relaxation of Richardson's iteration goes by the spectrum.
  if (step_.solver == nullptr || parameters_.solver.method == SolverMethod::richardson ||
      update_in_place(*step_.a, form) == Updated::no) {
    return Updated::no;
  }
  *step_.form = form;
  PreconditionerSetup<double, Space>& preconditioner = step_.preconditioner;
  const double ratio = step_.gamma / step_.preconditioned_gamma;
  // Fixed steps have the same bits whatever steps there were before.
  const bool may_stay = !problem_.step_depends_on_time() && !parameters_.time->step &&
                        preconditioner.update_cost == UpdateCost::setup &&
                        kMinGammaRatio <= ratio && ratio <= kMaxGammaRatio;
  if (preconditioner.preconditioner != nullptr && !may_stay) {
    if (!preconditioner.update || preconditioner.update(form) == Updated::no) return Updated::no;
    step_.preconditioned_gamma = step_.gamma;
  }
  step_.solver->update();
  return Updated::yes;
}

template <class Space>
void Diffusion<Space>::clear_constrained(HostVector<double>& x) const {
  clear_constrained_rows(form_, x);
}

template <class Space>
void Diffusion<Space>::add_dirichlet_values(double t, HostVector<double>& u) const {
  DirichletValues(form_, dirichlet_fields(problem_at(t))).set(u);
}

template <class Space>
TimeDependence Diffusion<Space>::time_dependence() const {
  if (problem_.capacity_depends_on_time()) return TimeDependence::mass;
  return problem_.form_depends_on_time() || problem_.data_depend_on_time()
             ? TimeDependence::right_side
             : TimeDependence::nothing;
}

template <class Space>
const Vector<double, Space>& Diffusion<Space>::prepare_evaluation(double t) {
  const bool is_made = a_ != nullptr && t == form_time_;
  if (problem_.form_depends_on_time() && !is_made) make_form_operator(t);
  return load(t);
}

template <class Space>
void Diffusion<Space>::evaluate(double t, const V& w, V& f) {
  stop_if_requested();
  move_mass(t);
  if (nonlinear_) return nonlinear_->evaluate(t, w, f);
  const V& b = prepare_evaluation(t);
  apply_timed([&] {
    // Both are 0 on Dirichlet faces.
    make_residual(*a_, b, w, f);
  });
}

template <class Space>
double Diffusion<Space>::evaluate_and_square(double t, const V& w, V& f) {
  if (nonlinear_) return TimeSystem<Space>::evaluate_and_square(t, w, f);
  stop_if_requested();
  move_mass(t);
  const V& b = prepare_evaluation(t);
  double square = 0.0;
  apply_timed([&] { square = residual_square(*a_, b, w, f, sum_); });
  return square;
}

template <class Space>
template <class Apply>
void Diffusion<Space>::apply_timed(Apply&& apply) {
  if constexpr (std::is_same_v<Space, Host>) {
    const auto scope = timers_.scope("apply");
    apply();
  } else {
    apply();
    ++applications_;
  }
}

template <class Space>
void Diffusion<Space>::time_application(const V& w) {
  if constexpr (!std::is_same_v<Space, Host>) {
    if (nonlinear_) return;
    const auto scope = timers_.scope("time an application");
    application_seconds_ =
        application_seconds<double>([&](V& y) { a_->apply(w, y); }, w.layout(), WarmUp::once);
  }
}

template <class Space>
void Diffusion<Space>::add_application_times(double most_seconds) {
  if (applications_ == 0) return;
  const double seconds = std::min(applications_ * application_seconds_, most_seconds);
  timers_.add("apply", applications_, seconds, seconds / applications_);
}

template <class Space>
SolveReport Diffusion<Space>::solve_shifted(double t, double gamma, const V& b, double norm, V& x) {
  prepare_step_operator(t, gamma);
  const auto scope = timers_.scope("solve");
  const SolverParameters& solver = parameters_.solver;
  if (gives_residuals(solver.method)) {
    adapt_to_size(norm / std::sqrt(entry_count(b)), step_.residual_size, step_.preconditioner,
                  *step_.solver);
  }
  SolveOptions options;
  options.relative_tolerance = solver.relative_tolerance;
  options.reference_norm = norm;
  options.max_iterations = solver.max_iterations;
  options.replacement_interval = solver.residual_replacement;
  options.guess = Guess::zero;
  options.observer = [](int, double) {
    return iteration_stop_requested() ? Continue::no : Continue::yes;
  };
  // The inverse needs no guess.
  if (step_.preconditioner.exactness != Exactness::exact) fill(x, 0.0);
  return step_.solver->solve(b, x, options);
}

template <class Space>
void Diffusion<Space>::linearize(double t, double gamma, const V& w) {
  if (nonlinear_) return nonlinear_->linearize(t, gamma, w);
  TimeSystem<Space>::linearize(t, gamma, w);
}

template <class Space>
SolveReport Diffusion<Space>::solve_linearized(double tolerance, const V& b, V& x) {
  if (nonlinear_) return nonlinear_->solve(tolerance, b, x);
  return TimeSystem<Space>::solve_linearized(tolerance, b, x);
}

template <class Space>
const LinearOperator<double, Space>* Diffusion<Space>::form_operator() const {
  if (nonlinear_) return nonlinear_->linearization().operation();
  return a_.get();
}

template <class Space>
Index Diffusion<Space>::operator_bytes() const {
  return (a_ == nullptr ? 0 : a_->bytes()) + mass_.bytes() +
         (step_.a == nullptr ? 0 : step_.a->bytes()) +
         (nonlinear_ ? nonlinear_->linearization().operator_bytes() : 0);
}

}  // namespace tessera
