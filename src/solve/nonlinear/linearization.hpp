// A Linearization is the form of a non-linear case at a state u, with a solver for it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "operators/cells/fields/device_state.hpp"
#include "operators/form/updatable.hpp"
#include "postprocess/timing/timers.hpp"
#include "solvers/solver.hpp"
#include "src/solve/nonlinear/jacobian.hpp"
#include "src/solve/preconditioning.hpp"
#include "src/solve/timed.hpp"

namespace tessera {

template <class Space>
using StateIn = std::conditional_t<std::is_same_v<Space, Host>, HostState, StateOnDevice>;

/// What becomes of a preconditioner that costs a set-up where u changes: it is updated, or kept
/// where it can be and while it has cost few iterations more than it would have when it was new.
enum class Aging { updated, kept_while_good };

/// What Newton's and Picard's iterations solve with, at a state u. With F(u) = A(u) u - f(u),
///   newton: J v = A(u) v + drift(u) v - (df/du v, phi_i),   picard: A(u) v.
/// J is the operator of the form with the reaction c - df/du, which may be negative, and where the
/// coefficient depends on u the drift, which is not symmetric.
///
/// The preconditioner is that of the form with the reaction |c - df/du|: of the symmetric part,
/// and definite where that is not. Operators and preconditioner are updated in place when u
/// changes, and made anew where that cannot be.
template <class Space>
class Linearization {
 public:
  using V = Vector<double, Space>;

  /// @param parameters without `auto`, with `[nonlinear]`. Both are referred to.
  Linearization(const CaseParameters& parameters, TimerTree& timers);

  /// Takes J or A at u. What keeps it from being made, such as a derivative that is not finite, is
  /// the ending of the next solves.
  /// @param form the linear form that the problem would have if nothing depended on u; its
  ///        discretization must outlive this
  /// @param source f @param u at the nodes
  /// @throws UnsuitableChoice, Interrupted, std::bad_alloc
  void set(const BilinearForm& form, const ScalarField& source, const V& u,
           Aging aging = Aging::updated);

  /// Solves with it from x = 0 to ||b - J x|| <= max(tolerance, that of the case) ||b||. Where a
  /// preconditioner that was kept is not enough for it, once more with that of this u.
  SolveReport solve(double tolerance, const V& b, V& x);

  /// Whether the preconditioner is that of an earlier call of set().
  bool keeps_preconditioner() const { return is_kept_; }
  /// Whether set() depends on u.
  bool depends_on_u() const { return form_.depends_on_u(); }
  /// Why it could not be made at the last u; empty if it could.
  const std::string& complaint() const { return complaint_; }
  /// What is applied, as it calls itself; null before set().
  const LinearOperator<double, Space>* operation() const;
  /// Of all operators, the drift included.
  Index operator_bytes() const;
  const std::vector<LevelSummary>& levels() const { return preconditioner_.levels; }
  const std::vector<std::string>& notes() const { return preconditioner_.notes; }

 private:
  void set_forms(const BilinearForm& form, const ScalarField& source, const V& u);
  /// Calls work(), and notes what it throws of a form that has no operator.
  template <class Work>
  void attempt(Work&& work);
  Updated update(Aging aging);
  Updated update_operators();
  Updated update_preconditioner();
  void make();
  void make_operators();
  void make_solver();
  SolveReport solve_once(double tolerance, const V& b, V& x);
  void judge_preconditioner(const SolveReport& report);
  void forget();
  /// The solver as well, which refers to them.
  void forget_operators();

  const CaseParameters& parameters_;
  TimerTree& timers_;
  std::shared_ptr<StateIn<Space>> state_;
  BilinearForm form_{};
  /// With the reaction that is not negative.
  BilinearForm definite_form_{};
  double residual_size_ = 1.0;
  std::optional<SolveStatus> failure_;
  std::string complaint_;

  std::unique_ptr<LinearOperator<double, Space>> a_;
  /// Of the definite form, where a preconditioner asks for its operator; else null.
  std::unique_ptr<LinearOperator<double, Space>> definite_a_;
  std::unique_ptr<DriftIn<Space>> drift_;
  std::unique_ptr<Jacobian<Space>> jacobian_;
  PreconditionerSetup<double, Space> preconditioner_;
  /// Whether it is that of an earlier u.
  bool is_kept_ = false;
  /// The digits an iteration that the first solve with it had, if there was one, and how many
  /// iterations more than with these the others have had.
  std::optional<double> digits_when_new_;
  double lost_iterations_ = 0.0;
  std::unique_ptr<TimedOperator<double, Space>> timed_a_;
  std::unique_ptr<TimedPreconditioner<double, Space>> timed_m_;
  std::unique_ptr<Solver<double, Space>> solver_;
};

}  // namespace tessera
