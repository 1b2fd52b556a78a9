// A Diffusion is what the finite elements leave of a case in time: M w' = f(t, w).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cases/natural_units.hpp"
#include "operators/multigrid/multigrid.hpp"
#include "postprocess/timing/timers.hpp"
#include "solvers/time/time_system.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/solve/preconditioning.hpp"

namespace tessera {

/// What a case in time becomes on its mesh. With u = w + g(t), g the function that has the
/// Dirichlet values at the nodes of Dirichlet faces and 0 at all others,
///   M w' = f(t, w) = b(t) - A(t) w - M g'(t)   at free nodes,   w = 0   on Dirichlet faces,
/// where M is the mass matrix with the capacity, A(t) the matrix of the stationary problem and b(t)
/// its load with g lifted: (source, phi_i) + <values, phi_i> - a(g, phi_i).
///
/// The load is assembled again where the data depend on t, the operator of steps is made again
/// where gamma or, if the form depends on it, t has changed. For an explicit method M is lumped:
/// M_ii = (capacity, phi_i).
class Diffusion final : public TimeSystem<Host> {
 public:
  /// @param parameters without `auto`. @param discretization in the frame of the units
  /// Both and the timers must outlive this.
  Diffusion(const CaseParameters& parameters, const ProblemInTime& problem,
            const Discretization& discretization, const NaturalUnits& units, TimerTree& timers);

  std::int64_t size() const override { return g_.size(); }
  void evaluate(double t, const HostVector<double>& w, HostVector<double>& f) override;
  void apply_mass(const HostVector<double>& x, HostVector<double>& y) override;
  SolveReport solve_mass(const HostVector<double>& b, HostVector<double>& x) override;
  SolveReport solve_step(double t, double gamma, const HostVector<double>& b,
                         HostVector<double>& x) override;
  /// The root mean square of x over the mesh, weighted with the capacity:
  /// sqrt((capacity x, x) / (capacity, 1)).
  double error_norm(const HostVector<double>& x) override;

  /// u = w + g(t).
  void add_dirichlet_values(double t, HostVector<double>& u) const;
  /// x = 0 on Dirichlet faces: w of u.
  void clear_constrained(HostVector<double>& x) const;
  /// The problem at t in natural units.
  PoissonProblem problem_at(double t) const { return in_units(problem_.at(t), units_); }

  /// Bytes of the three operators: of the form, of the mass, of steps.
  Index operator_bytes() const;
  /// The operator of the form at the last time; null if it could not be made then.
  const LinearOperator<double, Host>* form_operator() const { return a_.get(); }
  /// The levels of the preconditioner of the last operator of steps, and lines about it.
  const std::vector<LevelSummary>& levels() const { return step_.preconditioner.levels; }
  const std::vector<std::string>& notes() const { return step_.preconditioner.notes; }

 private:
  struct StepOperator {
    double t = 0.0;
    double gamma = 0.0;
    std::unique_ptr<BilinearForm> form;
    std::unique_ptr<LinearOperator<double, Host>> a;
    PreconditionerSetup<double, Host> preconditioner;
    std::unique_ptr<Solver<double, Host>> solver;
  };

  void make_form_operator(double t);
  void make_mass();
  void make_step_operator(double t, double gamma);
  const HostVector<double>& load_at(double t);
  void assemble_load_at(double t, HostVector<double>& b);

  const CaseParameters& parameters_;
  const ProblemInTime& problem_;
  const Discretization& discretization_;
  NaturalUnits units_;
  TimerTree& timers_;

  BilinearForm form_;
  double form_time_ = 0.0;
  std::unique_ptr<LinearOperator<double, Host>> a_;

  ScalarField capacity_;
  BilinearForm mass_form_;
  /// Null where the mass is lumped.
  std::unique_ptr<LinearOperator<double, Host>> mass_;
  std::unique_ptr<const Preconditioner<double, Host>> mass_inverse_;
  std::unique_ptr<Solver<double, Host>> mass_solver_;
  /// 1 / M_ii of the lumped mass, and M_ii; else empty.
  HostVector<double> lumped_;
  HostVector<double> lumped_inverse_;
  /// (capacity, 1).
  double total_mass_ = 0.0;

  StepOperator step_;

  /// The load at a time; empty: none yet.
  std::optional<double> load_time_;
  HostVector<double> load_;
  HostVector<double> g_;
  HostVector<double> rate_load_;
  HostVector<double> scratch_;
};

}  // namespace tessera
