// These templates make and update what linear systems of non-linear cases are solved with.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "cases/problem/poisson_problem.hpp"
#include "mesh/errors.hpp"
#include "mesh/field/field_terms.hpp"
#include "mesh/field/program_field.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "operators/strategy.hpp"
#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/sundials/solve_endings.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/strategy.hpp"
#include "src/solve/method.hpp"
#include "src/solve/nonlinear/linearization.hpp"
#include "src/solve/preconditioner_table.hpp"
#include "src/solve/residual_size.hpp"

namespace tessera {

/// A preconditioner is updated when keeping it has cost so many iterations: a few times as long as
/// an update takes on two cores, and less than that on a GPU.
inline constexpr double kMostLost = 8.0;

template <class Space>
Linearization<Space>::Linearization(const CaseParameters& parameters, TimerTree& timers)
    : parameters_(parameters), timers_(timers) {}

template <class Space>
const LinearOperator<double, Space>* Linearization<Space>::operation() const {
  return jacobian_ != nullptr ? jacobian_.get() : a_.get();
}

template <class Space>
Index Linearization<Space>::operator_bytes() const {
  return (a_ == nullptr ? 0 : a_->bytes()) + (definite_a_ == nullptr ? 0 : definite_a_->bytes()) +
         (drift_ == nullptr ? 0 : drift_->bytes());
}

template <class Space>
void Linearization<Space>::forget() {
  forget_operators();
  timed_m_.reset();
  preconditioner_ = {};
  is_kept_ = false;
  digits_when_new_.reset();
  lost_iterations_ = 0.0;
}

template <class Space>
void Linearization<Space>::forget_operators() {
  solver_.reset();
  timed_a_.reset();
  jacobian_.reset();
  drift_.reset();
  definite_a_.reset();
  a_.reset();
}

template <class Space>
void Linearization<Space>::set_forms(const BilinearForm& form, const ScalarField& source,
                                     const V& u) {
  form_ = form;
  if (has_derivative_of_source(parameters_)) {
    form_.reaction = sum(form.reaction, derivative_in_u(source), -1.0);
    form_.reaction_sign = ReactionSign::any;
  }
  if (form_.depends_on_u()) {
    if constexpr (std::is_same_v<Space, Host>) {
      if (state_ == nullptr) {
        state_ = std::make_shared<HostState>(HostArray<double>(static_cast<std::size_t>(u.size())));
      }
      std::copy(u.data(), u.data() + u.size(), state_->values().begin());
    } else {
      if (state_ == nullptr) {
        state_ = std::make_shared<StateOnDevice>(u);
      } else {
        state_->set(u);
      }
    }
    form_.state = state_;
  }
  definite_form_ = form_;
  if (form_.reaction_sign == ReactionSign::any) {
    definite_form_.reaction = magnitude_of(form_.reaction);
    definite_form_.reaction_sign = ReactionSign::non_negative;
  }
}

template <class Space>
void Linearization<Space>::set(const BilinearForm& form, const ScalarField& source, const V& u,
                               Aging aging) {
  attempt([&] {
    set_forms(form, source, u);
    if (solver_ == nullptr || update(aging) == Updated::no) make();
  });
}

template <class Space>
template <class Work>
void Linearization<Space>::attempt(Work&& work) {
  failure_.reset();
  complaint_.clear();
  try {
    work();
  } catch (const BadFieldValue& error) {
    forget();
    failure_ = SolveStatus::not_finite;
    complaint_ = error.what();
  } catch (const NumericalBreakdown& error) {
    forget();
    failure_ = SolveStatus::indefinite;
    complaint_ = error.what();
  } catch (...) {
    forget();
    throw;
  }
}

template <class Space>
void Linearization<Space>::make() {
  // What is to be made anew is given back first: both together may not fit.
  forget();
  make_operators();
  stop_if_requested();
  if (parameters_.solver.preconditioner != kNoPreconditioner) {
    const auto scope = timers_.scope("preconditioner");
    preconditioner_ = make_preconditioner<double, Space>(
        {parameters_, definite_form_, definite_a_ != nullptr ? *definite_a_ : *a_, residual_size_});
  }
  make_solver();
}

template <class Space>
void Linearization<Space>::make_operators() {
  const auto scope = timers_.scope("operator");
  forget_operators();
  a_ = make_operator<double, Space>(case_strategy(parameters_), form_);
  if (has_drift(parameters_)) {
    drift_ = on_all_ranks(form_, [&] { return std::make_unique<DriftIn<Space>>(form_); });
    jacobian_ = std::make_unique<Jacobian<Space>>(*a_, *drift_);
  }
  if (has_definite_operator(parameters_)) {
    definite_a_ = make_operator<double, Space>(case_strategy(parameters_), definite_form_);
  }
}

template <class Space>
void Linearization<Space>::make_solver() {
  const SolverParameters& solver = parameters_.solver;
  const LinearOperator<double, Space>* a = operation();
  const Preconditioner<double, Space>* m = preconditioner_.preconditioner.get();
  const double omega = relaxation(solver.method, *a, m);
  // What a GPU has been asked for takes its time later.
  if constexpr (std::is_same_v<Space, Host>) {
    timed_a_ = std::make_unique<TimedOperator<double, Space>>(*a, timers_);
    a = timed_a_.get();
    if (m != nullptr) {
      timed_m_ = std::make_unique<TimedPreconditioner<double, Space>>(*m, timers_);
      m = timed_m_.get();
    }
  }
  solver_ = tessera::make_solver<double, Space>(solver.method, *a, m, omega, solver.restart);
}

template <class Space>
Updated Linearization<Space>::update(Aging aging) {
  // The relaxation of Richardson's iteration goes by the spectrum.
  if (parameters_.solver.method == SolverMethod::richardson) return Updated::no;
  const bool has_operators_of_its_own = preconditioner_.without_update == WithoutUpdate::as_before;
  const Updated operators = update_operators();
  if (operators == Updated::no) {
    if (!has_operators_of_its_own) return Updated::no;
    make_operators();
  }
  is_kept_ =
      aging == Aging::kept_while_good && lost_iterations_ <= kMostLost && has_operators_of_its_own;
  if (!is_kept_ && update_preconditioner() == Updated::no) return Updated::no;
  if (operators == Updated::no) {
    make_solver();
  } else {
    solver_->update();
  }
  return Updated::yes;
}

template <class Space>
Updated Linearization<Space>::update_operators() {
  const auto scope = timers_.scope("operator");
  if (update_in_place(*a_, form_) == Updated::no) return Updated::no;
  if (drift_ != nullptr) {
    on_all_ranks(form_, [&] { drift_->update(form_); });
  }
  return definite_a_ == nullptr ? Updated::yes : update_in_place(*definite_a_, definite_form_);
}

template <class Space>
Updated Linearization<Space>::update_preconditioner() {
  if (preconditioner_.preconditioner == nullptr) return Updated::yes;
  const auto scope = timers_.scope("preconditioner");
  digits_when_new_.reset();
  lost_iterations_ = 0.0;
  return preconditioner_.update ? preconditioner_.update(definite_form_) : Updated::no;
}

template <class Space>
SolveReport Linearization<Space>::solve(double tolerance, const V& b, V& x) {
  SolveReport report = solve_once(tolerance, b, x);
  const bool is_lost = !gives_direction(report) && report.status != SolveStatus::interrupted &&
                       report.status != SolveStatus::not_finite;
  int before = 0;
  if (is_kept_ && is_lost) {
    is_kept_ = false;
    attempt([&] {
      if (update_preconditioner() == Updated::no) return make();
      solver_->update();
    });
    before = report.iterations;
    fill(x, 0.0);
    report = solve_once(tolerance, b, x);
  }
  judge_preconditioner(report);
  report.iterations += before;
  return report;
}

template <class Space>
SolveReport Linearization<Space>::solve_once(double tolerance, const V& b, V& x) {
  if (failure_) {
    SolveReport report;
    report.status = *failure_;
    report.true_relative_residual = 1.0;
    return report;
  }
  const SolverParameters& solver = parameters_.solver;
  if (gives_residuals(solver.method)) {
    adapt_to_size_of(b, residual_size_, preconditioner_, *solver_);
  }
  SolveOptions options;
  options.relative_tolerance = std::max(tolerance, solver.relative_tolerance);
  options.max_iterations = solver.max_iterations;
  options.replacement_interval = solver.residual_replacement;
  options.guess = Guess::zero;
  options.observer = [](int, double) {
    return iteration_stop_requested() ? Continue::no : Continue::yes;
  };
  return solver_->solve(b, x, options);
}

template <class Space>
void Linearization<Space>::judge_preconditioner(const SolveReport& report) {
  if (report.status != SolveStatus::converged || report.iterations == 0 ||
      !(report.true_relative_residual > 0.0)) {
    return;
  }
  const double digits = -std::log10(report.true_relative_residual);
  if (!digits_when_new_) digits_when_new_ = digits / report.iterations;
  lost_iterations_ += std::max(report.iterations - digits / *digits_when_new_, 0.0);
}

}  // namespace tessera
