// A Diffusion is what the finite elements leave of a case in time: M w' = f(t, w).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cases/problem/natural_units.hpp"
#include "operators/multigrid/multigrid.hpp"
#include "postprocess/timing/timers.hpp"
#include "solvers/time/time_system.hpp"
#include "src/solve/nonlinear/nonlinear_steps.hpp"
#include "src/solve/preconditioner_table.hpp"
#include "src/solve/time/mass_matrix.hpp"
#include "src/solve/time/moving_load.hpp"

namespace tessera {

/// What a case in time becomes on its mesh. With u = w + g(t), g the function that has the
/// Dirichlet values at the nodes of Dirichlet faces and 0 at all others,
///   M w' = f(t, w) = b(t) - A(t) w - M g'(t)   at free nodes,   w = 0   on Dirichlet faces,
/// where M is the mass matrix with the capacity at t, A(t) the matrix of the stationary problem and
/// b(t) its load with g lifted: (source, phi_i) + <values, phi_i> - a(g, phi_i).
///
/// The load is assembled again where the data depend on t, and so is M. The operator of steps is
/// updated where gamma or, if form or capacity depend on it, t has changed, and made anew where it
/// cannot be; the preconditioner of adaptive steps may stay that of a gamma nearby. Where
/// coefficient or source depend on u, NonlinearSteps stand for A, b and the operator of steps. For
/// an explicit method M is lumped: M_ii = (capacity, phi_i).
template <class Space>
class Diffusion final : public TimeSystem<Space> {
 public:
  using V = Vector<double, Space>;

  /// @param parameters without `auto`. @param discretization in the frame of the units
  /// Both and the timers must outlive this.
  Diffusion(const CaseParameters& parameters, const ProblemInTime& problem,
            const Discretization& discretization, const NaturalUnits& units, TimerTree& timers);

  std::int64_t size() const override { return discretization_.lattice.size(); }
  VectorLayout layout() const override { return mass_.form().layout(); }
  void evaluate(double t, const V& w, V& f) override;
  double evaluate_and_square(double t, const V& w, V& f) override;
  void apply_mass(const V& x, V& y) override { mass_.apply(x, y); }
  SolveReport solve_mass(const V& b, V& x) override { return mass_.solve(b, x); }
  SolveReport solve_shifted(double t, double gamma, const V& b, double norm, V& x) override;
  /// The root mean square of x over the mesh, weighted with the capacity:
  /// sqrt((capacity x, x) / (capacity, 1)).
  double error_norm(const V& x) override { return mass_.error_norm(x); }
  TimeDependence time_dependence() const override;
  bool is_linear() const override { return !nonlinear_; }
  void linearize(double t, double gamma, const V& w) override;
  SolveReport solve_linearized(double tolerance, const V& b, V& x) override;

  /// Throws unless fixed steps of the case's explicit method damp the solution: an estimate of the
  /// largest eigenvalue of M^-1 A, from below, tells, at the start and, where M or A depend on t,
  /// at the end and some times in between, of which the shortest step counts. Nothing is said of
  /// implicit methods, of adaptive steps and of non-linear cases. All ranks call it together.
  /// @param start the time of the first step
  /// @throws UnsuitableChoice
  void require_stable_steps(double start);

  /// On a GPU, where work is queued and an application within a step cannot be timed: times one of
  /// A at the start to w. Nothing on the host and of non-linear cases. All ranks call it together.
  void time_application(const V& w);
  /// Adds to the open timer what the applications that were so timed have taken, at most so long.
  void add_application_times(double most_seconds);

  /// u = w + g(t). All ranks call it together.
  void add_dirichlet_values(double t, HostVector<double>& u) const;
  /// x = 0 on Dirichlet faces: w of u.
  void clear_constrained(HostVector<double>& x) const;
  /// The problem at t in natural units.
  PoissonProblem problem_at(double t) const { return in_units(problem_.at(t), units_); }

  /// Bytes of the three operators: of the form, of the mass, of steps.
  Index operator_bytes() const;
  /// The operator of the form at the last time, of a non-linear case that of steps; null if it
  /// could not be made then.
  const LinearOperator<double, Space>* form_operator() const;
  /// The levels of the preconditioner of the last operator of steps, and lines about it.
  const std::vector<LevelSummary>& levels() const {
    return nonlinear_ ? nonlinear_->linearization().levels() : step_.preconditioner.levels;
  }
  const std::vector<std::string>& notes() const {
    return nonlinear_ ? nonlinear_->linearization().notes() : step_.preconditioner.notes;
  }
  /// What was wrong with the values of a non-linear case when steps failed; empty if nothing was.
  std::string complaint() const { return nonlinear_ ? nonlinear_->complaint() : std::string(); }

 private:
  struct StepOperator {
    StepOperator() = default;
    StepOperator(double time, double made_for)
        : t(time), gamma(made_for), preconditioned_gamma(made_for) {}

    double t = 0.0;
    double gamma = 0.0;
    /// What the preconditioner was made for.
    double preconditioned_gamma = 0.0;
    double residual_size = 1.0;
    std::unique_ptr<BilinearForm> form;
    std::unique_ptr<LinearOperator<double, Space>> a;
    PreconditionerSetup<double, Space> preconditioner;
    std::unique_ptr<Solver<double, Space>> solver;
  };

  // Takes what f(t, w) = b - A w is made of; returns b.
  const V& prepare_evaluation(double t);
  const V& load(double t) {
    const auto scope = timers_.scope("load");
    return load_->at(t);
  }
  void make_form_operator(double t);
  // Takes M at t.
  void move_mass(double t);
  // Calls apply(), of which the host's time counts as "apply", and a GPU's as time_application().
  template <class Apply>
  void apply_timed(Apply&& apply);
  void prepare_step_operator(double t, double gamma);
  void make_step_operator(BilinearForm form);
  Updated update_step_operator(const BilinearForm& form);

  const CaseParameters& parameters_;
  const ProblemInTime& problem_;
  const Discretization& discretization_;
  NaturalUnits units_;
  TimerTree& timers_;

  BilinearForm form_;
  double form_time_ = 0.0;
  std::unique_ptr<LinearOperator<double, Space>> a_;

  MassMatrix<Space> mass_;
  double mass_time_;
  StepOperator step_;
  /// Of a non-linear case.
  std::optional<NonlinearSteps<Space>> nonlinear_;

  std::optional<MovingLoad<Space>> load_;
  V sum_{1};  // of a fused residual

  // Of an application on a GPU, and how many there were.
  double application_seconds_ = 0.0;
  int applications_ = 0;
};

}  // namespace tessera
