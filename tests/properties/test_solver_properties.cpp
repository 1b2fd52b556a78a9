// These tests check properties of solvers on random cases.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "operators/csr/csr.hpp"
#include "operators/strategy.hpp"
#include "src/case/choices.hpp"
#include "src/case/memory/multigrid_memory.hpp"
#include "src/case/shape.hpp"
#include "src/solve/solve.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"
#include "tests/properties/random_case.hpp"

namespace tessera::testing {
namespace {

// A residual is called converged up to this times the tolerance.
constexpr double kConvergedSlack = 1.0;

/// What a case solves, and what came of it.
struct Solved {
  explicit Solved(CaseParameters resolved)
      : parameters(std::move(resolved)),
        discretization(make_discretization(parameters)),
        problem(tessera::make_problem(parameters)),
        form(stiffness_form(problem, discretization)) {
    system = make_linear_system(problem, discretization, make_initial(parameters));
    b.assign(system.b.data(), system.b.data() + system.b.size());
    const ThreadsInUse threads(parameters.run.threads);
    // As a run has it, before the operator.
    { const auto setup = timers.scope("setup"); }
    outcome = solve(parameters, problem, form, system, timers,
                    {[](int, double) { return Continue::yes; }, [](const auto&, const auto&) {}});
    x.assign(system.x.data(), system.x.data() + system.x.size());
  }

  CaseParameters parameters;
  Discretization discretization;
  PoissonProblem problem;
  BilinearForm form;
  LinearSystem system;
  TimerTree timers;
  SolveOutcome outcome;
  std::vector<double> b;
  std::vector<double> x;
};

double norm_of(const std::vector<double>& v) {
  // Scaled: squares of what the units make small would vanish.
  double largest = 0.0;
  for (const double value : v) largest = std::max(largest, std::abs(value));
  if (largest == 0.0 || !std::isfinite(largest)) return largest;
  double sum = 0.0;
  for (const double value : v) sum += (value / largest) * (value / largest);
  return largest * std::sqrt(sum);
}

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] - b[i];
  return result;
}

double epsilon_of(const CaseParameters& parameters) {
  return parameters.operation.precision == Precision::single_precision
             ? std::numeric_limits<float>::epsilon()
             : std::numeric_limits<double>::epsilon();
}

void without_constrained(const Reference& reference, std::vector<double>& v) {
  for (Index i = 0; i < reference.size(); ++i) {
    if (reference.is_constrained(i)) v[i] = 0.0;
  }
}

// "Converged" is a statement about b - A x with the A of the reference.
void require_small_residual(const Solved& solved, const Reference& reference) {
  std::vector<double> residual = difference(solved.b, reference.apply(solved.x));
  std::vector<double> size = reference.magnitude(solved.x);
  without_constrained(reference, residual);
  without_constrained(reference, size);
  const double scale = solved.system.reference_norm;
  // Where all data are 0, residuals are relative to the first one, which is not known here.
  if (scale == 0.0) return;
  const int n = solved.parameters.space.degree + 1;
  const double rounding = 64.0 * n * epsilon_of(solved.parameters) * norm_of(size) / scale;
  const double relative = norm_of(residual) / scale;
  const double allowed = kConvergedSlack * solved.parameters.solver.relative_tolerance + rounding;
  if (!(relative <= allowed)) {
    RC_FAIL(
        fmt::format("converged after {} iterations with a relative residual of {:.3g}; that of "
                    "the reference is {:.3g}, at most {:.3g} of it by rounding",
                    solved.outcome.report.iterations, solved.outcome.report.true_relative_residual,
                    relative, rounding));
  }
}

// The levels that were made are those that `check` plans, unless a note says why there are fewer.
void require_planned_levels(const Solved& solved) {
  if (solved.parameters.solver.preconditioner != "multigrid") return;
  const std::vector<LevelSummary> planned = planned_levels(solved.parameters);
  const std::vector<LevelSummary>& made = solved.outcome.levels;
  if (made.size() > planned.size() ||
      (made.size() < planned.size() && solved.outcome.notes.empty())) {
    RC_FAIL(fmt::format("{} levels were made, {} planned", made.size(), planned.size()));
  }
  for (std::size_t l = 0; l < made.size(); ++l) {
    const bool is_same = made[l].dofs == planned[l].dofs &&
                         made[l].strategy == planned[l].strategy &&
                         made[l].shape.cells == planned[l].shape.cells &&
                         made[l].shape.degree == planned[l].shape.degree;
    if (!is_same) {
      RC_FAIL(fmt::format(
          "level {} was made with {} DoFs of degree {} by {}, and planned with {} of {} by {}", l,
          made[l].dofs, made[l].shape.degree, made[l].strategy, planned[l].dofs,
          planned[l].shape.degree, planned[l].strategy));
    }
  }
}

/// The matrix of the case's free nodes, scaled to a diagonal near 1, with its inverse.
class DirectSolution {
 public:
  DirectSolution(const Solved& solved, const Reference& reference) : n_(reference.size()) {
    for (Index i = 0; i < n_; ++i) {
      if (!reference.is_constrained(i)) free_.push_back(i);
    }
    const auto m = static_cast<Eigen::Index>(free_.size());
    Eigen::MatrixXd a(m, m);
    const auto csr = make_operator<double>({"csr"}, solved.form);
    HostVector<double> unit(n_);
    HostVector<double> column(n_);
    for (Eigen::Index j = 0; j < m; ++j) {
      unit[free_[j]] = 1.0;
      csr->apply(unit, column);
      unit[free_[j]] = 0.0;
      for (Eigen::Index i = 0; i < m; ++i) a(i, j) = column[free_[i]];
    }
    scale_ = m > 0 ? a.diagonal().mean() : 1.0;
    eigen_.compute(a / scale_);
  }

  double smallest_eigenvalue() const { return scale_ * eigen_.eigenvalues()(0); }
  bool is_empty() const { return free_.empty(); }

  // Free entries of the solution of the system with x's constrained values.
  double distance(const Solved& solved) const {
    Eigen::VectorXd b(static_cast<Eigen::Index>(free_.size()));
    Eigen::VectorXd x(b.size());
    for (Eigen::Index i = 0; i < b.size(); ++i) {
      b(i) = solved.b[free_[i]] / scale_;
      x(i) = solved.x[free_[i]];
    }
    const Eigen::VectorXd coordinates =
        (eigen_.eigenvectors().transpose() * b).cwiseQuotient(eigen_.eigenvalues());
    return (eigen_.eigenvectors() * coordinates - x).stableNorm();
  }

 private:
  Index n_;
  std::vector<Index> free_;
  double scale_ = 1.0;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen_;
};

// ||x - A^-1 b|| <= ||b - A x|| / lambda_min.
void require_solution(const Solved& solved, const Reference& reference) {
  constexpr Index kLargest = 150;
  if (reference.size() > kLargest || is_pure_neumann(solved.form)) return;
  const DirectSolution direct(solved, reference);
  if (direct.is_empty()) return;
  std::vector<double> size = reference.magnitude(solved.x);
  without_constrained(reference, size);
  const double residual =
      kConvergedSlack * solved.parameters.solver.relative_tolerance * solved.system.reference_norm +
      64.0 * (solved.parameters.space.degree + 1) * epsilon_of(solved.parameters) * norm_of(size);
  if (solved.system.reference_norm == 0.0) return;
  const double allowed = 1.01 * residual / direct.smallest_eigenvalue();
  const double distance = direct.distance(solved);
  if (!(distance <= allowed)) {
    RC_FAIL(fmt::format("the solution is {:.3g} from that of a direct solver; {:.3g} is allowed",
                        distance, allowed));
  }
}

/// How solves end, by the status' name.
using Endings = std::map<std::string, int>;

void check_solve(const LoadedCase& loaded, Endings& endings) {
  CaseParameters parameters = loaded.parameters;
  parameters.run.device = RunDevice::cpu;
  resolve_choices(parameters);
  const Solved solved(std::move(parameters));
  const SolveStatus status = solved.outcome.report.status;
  ++endings[std::string(status_name(status))];
  for (const double value : solved.x) {
    if (!std::isfinite(value)) RC_FAIL("the solution is not finite");
  }
  require_planned_levels(solved);
  if (status != SolveStatus::converged) return;
  const Reference reference(solved.form);
  require_small_residual(solved, reference);
  require_solution(solved, reference);
}

TEST(Solvers, FindTheSolutionInRandomCases) {
  Refusals refusals;
  Endings endings;
  const CaseRange range{.max_dofs = 1500, .max_work = 6e4};
  expect_for_all(random_cases(range), 150, [&](const RandomCase& random_case) {
    const auto loaded = refusals.load(random_case);
    if (loaded) check_solve(*loaded, endings);
  });
  refusals.expect_at_most(0.2);
  int solves = 0;
  std::string text;
  for (const auto& [name, count] : endings) {
    solves += count;
    text += fmt::format("{}: {}\n", name, count);
  }
  EXPECT_GE(endings["converged"], 0.9 * solves) << text;
}

}  // namespace
}  // namespace tessera::testing
