// NonlinearSteps are what implicit steps in time of a non-linear case solve.
#pragma once

#include <optional>
#include <string>

#include "cases/problem/natural_units.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/solve/nonlinear/dirichlet_lift.hpp"
#include "src/solve/nonlinear/linearization.hpp"
#include "src/solve/nonlinear/residual.hpp"

namespace tessera {

/// The right-hand side of M w' = f(t, w) with u = w + g(t), g as in Diffusion,
///   f_i(t, w) = (source(u), phi_i) + <values, phi_i> - a(u; u, phi_i) - (capacity g', phi_i)
/// at free nodes, 0 on Dirichlet faces, and solves with M - gamma df/dw.
template <class Space>
class NonlinearSteps {
 public:
  using V = Vector<double, Space>;

  /// Evaluates the problem at the start. All but the units are referred to.
  /// @param parameters without `auto`, with `[nonlinear]`
  /// @param mass the form of M
  /// @throws what the case's fields throw at the start
  NonlinearSteps(const CaseParameters& parameters, const ProblemInTime& problem,
                 const Discretization& discretization, const NaturalUnits& units,
                 const BilinearForm& mass, TimerTree& timers);

  /// f(t, w); not finite where it is not defined. @throws Interrupted
  void evaluate(double t, const V& w, V& f);
  /// Takes M - gamma df/dw at w, with the preconditioner that is there while it is good: within a
  /// stage, of which t and gamma are the same, and where steps adapt while gamma is near to that
  /// for which it was made. @throws as Linearization::set()
  void linearize(double t, double gamma, const V& w);
  /// Solves with it.
  SolveReport solve(double tolerance, const V& b, V& x);

  const Linearization<Space>& linearization() const { return linearization_; }
  /// What was wrong at the last w; empty if nothing was.
  const std::string& complaint() const {
    return complaint_.empty() ? linearization_.complaint() : complaint_;
  }

 private:
  PoissonProblem problem_at(double t) const { return in_units(problem_.at(t), units_); }
  // u = w + g(t)
  void set_u(double t, const PoissonProblem& problem, const V& w);

  Aging aging_of(double t, double gamma) const;

  const CaseParameters& parameters_;
  const ProblemInTime& problem_;
  const Discretization& discretization_;
  NaturalUnits units_;
  const BilinearForm& mass_;
  TimerTree& timers_;
  ResidualIn<Space> residual_;
  Linearization<Space> linearization_;
  std::optional<double> linearized_at_;
  double gamma_ = 1.0;
  double preconditioned_gamma_ = 1.0;
  V u_;
  V scratch_;
  DirichletLift<Space> lift_;
  std::string complaint_;
};

}  // namespace tessera
