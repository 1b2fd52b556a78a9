// A MassMatrix is what the capacity of a case in time becomes on its mesh.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>

#include "operators/fast_diagonalization/fast_diagonalization.hpp"
#include "operators/form/updatable.hpp"
#include "operators/strategy.hpp"
#include "postprocess/timing/timers.hpp"
#include "solvers/krylov/inverse_solver.hpp"
#include "solvers/krylov/methods.hpp"
#include "src/case/strategy.hpp"
#include "src/parameters/case_parameters.hpp"
#include "src/solve/time/load_assembly.hpp"
#include "src/solve/vector_conversion.hpp"

namespace tessera {

// Errors of solves with the mass enter u itself: they are kept below those of steps.
inline constexpr double kMassTolerance = 1e-2;
// Rounding hides what is less.
inline constexpr double kMinTolerance = 1e-13;

/// M_ij = (capacity phi_j, phi_i), by the operator that the case names; for an explicit method it
/// is lumped: M_ii = (capacity, phi_i).
template <class Space>
class MassMatrix {
 public:
  using V = Vector<double, Space>;

  /// Has the form, and the matrix after make().
  /// @param parameters without `auto`. They, discretization and timers must outlive this.
  MassMatrix(const CaseParameters& parameters, const PoissonProblem& problem,
             const Discretization& discretization, TimerTree& timers)
      : parameters_(parameters), discretization_(discretization), timers_(timers) {
    set(problem);
  }

  void make();
  /// Takes the capacity of another time.
  void move(const PoissonProblem& problem);

  /// The same object at all times.
  const BilinearForm& form() const { return form_; }
  const ScalarField& capacity() const { return capacity_; }
  /// 1 / M_ii; only where M is lumped.
  const V& lumped_inverse() const { return lumped_inverse_; }
  bool is_lumped() const { return parameters_.time->method == TimeMethod::explicit_rk; }
  Index bytes() const { return matrix_ == nullptr ? 0 : matrix_->bytes(); }

  /// y = M x.
  void apply(const V& x, V& y);
  /// Solves M x = b, whatever x holds; divides where M is lumped.
  SolveReport solve(const V& b, V& x);
  /// sqrt((capacity x, x) / (capacity, 1)).
  double error_norm(const V& x);

 private:
  void set(const PoissonProblem& problem) {
    capacity_ = problem.capacity;
    form_ = mass_form(problem, discretization_);
  }
  void sum_rows();
  void make_matrix();
  const LinearOperator<double, Space>& matrix();
  void make_its_solver();

  const CaseParameters& parameters_;
  const Discretization& discretization_;
  TimerTree& timers_;

  ScalarField capacity_;
  BilinearForm form_;
  /// Null where the mass is lumped.
  std::unique_ptr<LinearOperator<double, Space>> matrix_;
  std::unique_ptr<const Preconditioner<double, Space>> inverse_;
  std::unique_ptr<Solver<double, Space>> solver_;
  /// M_ii of the lumped mass, and 1 / M_ii; else empty.
  V lumped_;
  V lumped_inverse_;
  /// (capacity, 1).
  double total_mass_ = 0.0;
  V scratch_;
};

template <class Space>
void MassMatrix<Space>::make() {
  scratch_ = V(form_.layout());
  const auto scope = timers_.scope("mass");
  sum_rows();
  if (!is_lumped()) make_matrix();
}

template <class Space>
void MassMatrix<Space>::sum_rows() {
  // The rows of constrained nodes count as others do: what stands there is not looked at.
  BilinearForm all_nodes = form_;
  all_nodes.dirichlet = {};
  V row_sums;
  assemble_load_in<Space>(all_nodes, capacity_, {}, {}, row_sums);
  fill(scratch_, 1.0);
  total_mass_ = dot(row_sums, scratch_);
  if (!is_lumped()) return;
  lumped_ = std::move(row_sums);
  if (lumped_inverse_.size() == 0) lumped_inverse_ = V(form_.layout());
  copy(lumped_, lumped_inverse_);
  invert_entries(lumped_inverse_);
}

template <class Space>
void MassMatrix<Space>::move(const PoissonProblem& problem) {
  const auto scope = timers_.scope("mass");
  set(problem);
  sum_rows();
  if (is_lumped()) return;
  solver_ = nullptr;
  inverse_ = nullptr;
  // Null if it fails; matrix() tries again.
  auto matrix = std::move(matrix_);
  if (matrix != nullptr && update_in_place(*matrix, form_) == Updated::yes) {
    matrix_ = std::move(matrix);
  } else {
    matrix = nullptr;
    make_matrix();
  }
}

template <class Space>
void MassMatrix<Space>::make_matrix() {
  matrix_ = make_operator<double, Space>(case_strategy(parameters_), form_);
}

template <class Space>
const LinearOperator<double, Space>& MassMatrix<Space>::matrix() {
  if (matrix_ == nullptr) make_matrix();
  return *matrix_;
}

template <class Space>
void MassMatrix<Space>::make_its_solver() {
  const auto make = [this] { return make_solver(SolverMethod::cg, matrix(), inverse_.get()); };
  if (capacity_.constant && discretization_.mapping.is_cartesian()) {
    inverse_ = make_fast_diagonalization<double, Space>(form_);
    solver_ = std::make_unique<InverseSolver<double, Space>>(matrix(), *inverse_, make);
  } else {
    inverse_ = std::make_unique<Jacobi<double, Space>>(matrix());
    solver_ = make();
  }
}

template <class Space>
void MassMatrix<Space>::apply(const V& x, V& y) {
  const auto scope = timers_.scope("mass");
  if (is_lumped()) {
    multiply(lumped_, x, y);
  } else {
    matrix().apply(x, y);
  }
}

template <class Space>
SolveReport MassMatrix<Space>::solve(const V& b, V& x) {
  const auto scope = timers_.scope("mass");
  if (is_lumped()) {
    multiply(lumped_inverse_, b, x);
    SolveReport report;
    report.status = SolveStatus::converged;
    return report;
  }
  // Implicit Euler with fixed steps never solves with the mass.
  if (solver_ == nullptr) make_its_solver();
  SolveOptions options;
  options.relative_tolerance =
      std::max(kMassTolerance * parameters_.solver.relative_tolerance, kMinTolerance);
  options.max_iterations = parameters_.solver.max_iterations;
  options.guess = Guess::zero;
  fill(x, 0.0);
  return solver_->solve(b, x, options);
}

template <class Space>
double MassMatrix<Space>::error_norm(const V& x) {
  apply(x, scratch_);
  return std::sqrt(std::max(dot(x, scratch_), 0.0) / total_mass_);
}

}  // namespace tessera
