// This file applies and inverts the matrices of a case in time.
#include "src/solve/time/diffusion.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "operators/fast_diagonalization/fast_diagonalization.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/load/load_vector.hpp"
#include "operators/strategy.hpp"
#include "solvers/interruption.hpp"
#include "solvers/krylov/methods.hpp"
#include "src/case/strategy.hpp"
#include "src/case/system_scale.hpp"
#include "src/solve/method.hpp"

namespace tessera {
namespace {

// Errors of solves with the mass enter u itself: they are kept below those of steps.
constexpr double kMassTolerance = 1e-2;
// What gamma may differ by from that of an operator: far less than the error of a solve.
constexpr double kGammaSpread = 1e-2;
// Rounding hides what is less.
constexpr double kLeastTolerance = 1e-13;

// y = a x; y may be x.
void multiply(double a, const HostVector<double>& x, HostVector<double>& y) {
  const HostVector<double>* const vectors[] = {&x};
  combine<double>(std::span(&a, 1), vectors, y);
}

}  // namespace

Diffusion::Diffusion(const CaseParameters& parameters, const ProblemInTime& problem,
                     const Discretization& discretization, const NaturalUnits& units,
                     TimerTree& timers)
    : parameters_(parameters),
      problem_(problem),
      discretization_(discretization),
      units_(units),
      timers_(timers),
      load_(discretization.lattice.size()),
      g_(discretization.lattice.size()),
      scratch_(discretization.lattice.size()) {
  const double start = parameters.time->start;
  const PoissonProblem first = problem_at(start);
  capacity_ = first.capacity;
  make_form_operator(start);
  mass_form_ = mass_form(first, discretization);
  make_mass();
}

void Diffusion::make_form_operator(double t) {
  const auto scope = timers_.scope("operator");
  a_ = nullptr;
  form_ = stiffness_form(problem_at(t), discretization_);
  a_ = make_operator<double, Host>(case_strategy(parameters_), form_);
  form_time_ = t;
}

void Diffusion::make_mass() {
  const auto scope = timers_.scope("mass");
  // The rows of constrained nodes count as others do: what stands there is not looked at.
  BilinearForm all_nodes = mass_form_;
  all_nodes.dirichlet = {};
  HostVector<double> row_sums(size());
  assemble_load(all_nodes, capacity_, {}, scratch_, row_sums);
  for (std::int64_t i = 0; i < size(); ++i) total_mass_ += row_sums[i];
  if (parameters_.time->method == TimeMethod::explicit_rk) {
    lumped_ = std::move(row_sums);
    lumped_inverse_ = HostVector<double>(size());
    copy(lumped_, lumped_inverse_);
    invert_entries(lumped_inverse_);
    return;
  }
  mass_ = make_operator<double, Host>(case_strategy(parameters_), mass_form_);
  if (capacity_.constant && discretization_.mapping.is_cartesian()) {
    mass_inverse_ = make_fast_diagonalization<double, Host>(mass_form_);
  } else {
    mass_inverse_ = std::make_unique<Jacobi<double, Host>>(*mass_);
  }
  mass_solver_ = make_solver(SolverMethod::cg, *mass_, mass_inverse_.get());
}

void Diffusion::make_step_operator(double t, double gamma) {
  // Between times of output, steps of the same length differ by rounding.
  const double spread = kGammaSpread * parameters_.solver.relative_tolerance;
  if (step_.solver != nullptr && std::abs(step_.gamma - gamma) <= spread * gamma &&
      (step_.t == t || !problem_.form_depends_on_time())) {
    return;
  }
  const auto scope = timers_.scope("operator of steps");
  stop_if_requested();
  // What is to be made anew is given back first: both together may not fit.
  step_ = {};
  step_.t = t;
  step_.gamma = gamma;
  const BilinearForm stationary =
      problem_.form_depends_on_time() ? stiffness_form(problem_at(t), discretization_) : form_;
  step_.form = std::make_unique<BilinearForm>(with_mass(stationary, capacity_, 1.0 / gamma));
  step_.a = make_operator<double, Host>(case_strategy(parameters_), *step_.form);
  const SolverParameters& solver = parameters_.solver;
  if (solver.preconditioner != kNoPreconditioner) {
    step_.preconditioner =
        make_preconditioner<double, Host>({parameters_, *step_.form, *step_.a, 1.0});
  }
  const auto* const m = step_.preconditioner.preconditioner.get();
  step_.solver = make_solver(solver.method, *step_.a, m, relaxation(solver.method, *step_.a, m));
}

void Diffusion::clear_constrained(HostVector<double>& x) const {
  for_each_face_node(discretization_.lattice, form_.dirichlet, [&](Index node) { x[node] = 0.0; });
}

void Diffusion::add_dirichlet_values(double t, HostVector<double>& u) const {
  set_dirichlet_values(discretization_, form_.dirichlet, dirichlet_fields(problem_at(t)), u);
}

void Diffusion::assemble_load_at(double t, HostVector<double>& b) {
  const auto scope = timers_.scope("load");
  const PoissonProblem problem = problem_at(t);
  const BilinearForm form = stiffness_form(problem, discretization_);
  fill(g_, 0.0);
  set_dirichlet_values(discretization_, form.dirichlet, dirichlet_fields(problem), g_);
  assemble_load(form, problem.source, flux_terms(problem), g_, b);
  // A lumped mass has no entries between nodes.
  if (mass_ != nullptr && problem_.dirichlet_depends_on_time()) {
    std::vector<ScalarField> rates;
    for (const ScalarField& rate : problem_.value_rates(t)) {
      rates.push_back(in_frame(rate, units_.frame));
    }
    set_dirichlet_values(discretization_, form.dirichlet, rates, g_);
    if (rate_load_.size() == 0) rate_load_ = HostVector<double>(size());
    assemble_load(mass_form_, constant_field(0.0), {}, g_, rate_load_);
    axpy(1.0, rate_load_, b);
  }
  clear_constrained(b);
}

const HostVector<double>& Diffusion::load_at(double t) {
  const bool is_constant = !problem_.form_depends_on_time() && !problem_.data_depend_on_time();
  if (!load_time_ || (*load_time_ != t && !is_constant)) {
    assemble_load_at(t, load_);
    load_time_ = t;
  }
  return load_;
}

void Diffusion::evaluate(double t, const HostVector<double>& w, HostVector<double>& f) {
  stop_if_requested();
  if (problem_.form_depends_on_time() && t != form_time_) make_form_operator(t);
  const HostVector<double>& b = load_at(t);
  const auto scope = timers_.scope("apply");
  a_->apply(w, f);
  subtract_from(b, f);
  clear_constrained(f);
}

void Diffusion::apply_mass(const HostVector<double>& x, HostVector<double>& y) {
  const auto scope = timers_.scope("mass");
  if (mass_ == nullptr) {
    multiply(lumped_, x, y);
  } else {
    mass_->apply(x, y);
  }
}

SolveReport Diffusion::solve_mass(const HostVector<double>& b, HostVector<double>& x) {
  const auto scope = timers_.scope("mass");
  if (mass_ == nullptr) {
    multiply(lumped_inverse_, b, x);
    SolveReport report;
    report.status = SolveStatus::converged;
    return report;
  }
  SolveOptions options;
  options.relative_tolerance =
      std::max(kMassTolerance * parameters_.solver.relative_tolerance, kLeastTolerance);
  options.reference_norm = norm(b);
  options.max_iterations = parameters_.solver.max_iterations;
  return mass_solver_->solve(b, x, options);
}

SolveReport Diffusion::solve_step(double t, double gamma, const HostVector<double>& b,
                                  HostVector<double>& x) {
  make_step_operator(t, gamma);
  const auto scope = timers_.scope("solve");
  // The preconditioner may compute in single precision: what it is given is of order 1.
  const double size = norm(b) / std::sqrt(static_cast<double>(b.size()));
  const double unit = power_of_2_next_to(size / gamma);
  multiply(1.0 / (gamma * unit), b, scratch_);
  multiply(1.0 / unit, x, x);
  const SolverParameters& solver = parameters_.solver;
  SolveOptions options;
  options.relative_tolerance = solver.relative_tolerance;
  options.reference_norm = norm(scratch_);
  options.max_iterations = solver.max_iterations;
  options.replacement_interval = solver.residual_replacement;
  options.observer = [](int, double) { return stop_requested() ? Continue::no : Continue::yes; };
  SolveReport report = step_.solver->solve(scratch_, x, options);
  multiply(unit, x, x);
  return report;
}

double Diffusion::error_norm(const HostVector<double>& x) {
  apply_mass(x, scratch_);
  return std::sqrt(std::max(dot(x, scratch_), 0.0) / total_mass_);
}

Index Diffusion::operator_bytes() const {
  return (a_ == nullptr ? 0 : a_->bytes()) + (mass_ == nullptr ? 0 : mass_->bytes()) +
         (step_.a == nullptr ? 0 : step_.a->bytes());
}

}  // namespace tessera
