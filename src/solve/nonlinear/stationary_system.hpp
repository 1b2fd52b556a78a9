// A StationarySystem is what the finite elements leave of a non-linear case without time.
#pragma once

#include <string>
#include <vector>

#include "cases/problem/poisson_problem.hpp"
#include "operators/load/load_vector.hpp"
#include "postprocess/timing/timers.hpp"
#include "solvers/nonlinear/nonlinear_system.hpp"
#include "src/solve/nonlinear/linearization.hpp"
#include "src/solve/nonlinear/residual.hpp"

namespace tessera {

/// F(u) = A(u) u - f(u) at free nodes, 0 on Dirichlet faces, whose values u has from the start.
template <class Space>
class StationarySystem final : public NonlinearSystem<Space> {
 public:
  using V = Vector<double, Space>;

  /// @param parameters without `auto`, with `[nonlinear]`. All but the problem are referred to.
  /// @param problem in natural units
  /// @throws UndeterminedSolution
  StationarySystem(const CaseParameters& parameters, const PoissonProblem& problem,
                   const Discretization& discretization, TimerTree& timers);

  std::int64_t size() const override { return form_.layout().size; }
  VectorLayout layout() const override { return form_.layout(); }
  /// Of the first u it throws what the case's fields throw; later an entry is not finite.
  void residual(const V& u, V& r) override;
  /// ||F|| of the u that is 0 but for these values on Dirichlet faces, by which residuals are
  /// measured from wherever an iteration starts; 0 where it is not finite.
  double size_at_zero(const V& u);
  void linearize(const V& u) override;
  SolveReport solve(double tolerance, const V& b, V& x) override;

  const Linearization<Space>& linearization() const { return linearization_; }
  /// Whether a signal has come: what was computed since means nothing.
  bool was_stopped() const { return was_stopped_; }
  /// Whether the last linear solve found its matrix not to be positive definite.
  bool was_indefinite() const { return was_indefinite_; }
  /// What was wrong at the last u where something was; empty if nothing was.
  const std::string& complaint() const { return complaint_; }

 private:
  ScalarField source_;
  std::vector<FluxTerm> fluxes_;
  BilinearForm form_;
  TimerTree& timers_;
  ResidualIn<Space> residual_;
  Linearization<Space> linearization_;
  bool is_first_ = true;
  bool is_made_ = false;
  bool was_stopped_ = false;
  bool was_indefinite_ = false;
  std::string complaint_;
};

}  // namespace tessera
