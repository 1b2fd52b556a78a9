// These tests hold the preconditioners of a case and full multigrid on ranks, which are threads, to
// those on one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cases/problem/balance.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/strategy.hpp"
#include "solvers/errors.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "src/case/choices.hpp"
#include "src/case/setup.hpp"
#include "src/solve/full_multigrid_start.hpp"
#include "src/solve/preconditioner_table.hpp"
#include "src/solve/residual_size.hpp"
#include "tests/operators/ranks/rank_checks.hpp"

namespace tessera::testing {
namespace {

// The mesh is mapped, and there are faces of all kinds.
constexpr char kMixed[] = R"toml(
[mesh]
dimension = 2
cells = [18, 20]
map = ["x + 0.1*sin(2*y)", "y + 0.1*x*y"]
[space]
degree = 2
[problem]
coefficient = "1 + x"
source = "-exp(x)*sin(y)"
[boundary]
left = { value = "sin(y)" }
bottom = { value = "0.3*x" }
right = { type = "neumann", value = "2*exp(1)*sin(y)" }
top = { type = "robin", alpha = "2", value = "(1 + x)*exp(x)" }
[solver]
initial = "full-multigrid"
preconditioner = "multigrid"
)toml";

constexpr char kNeumann[] = R"toml(
[mesh]
dimension = 2
cells = [9, 12]
[space]
degree = 2
[problem]
source = "cos(3*x)*y"
[boundary]
left = { type = "neumann", value = "0.5" }
right = { type = "neumann", value = "-y" }
bottom = { type = "neumann" }
top = { type = "neumann" }
[solver]
initial = "full-multigrid"
preconditioner = "multigrid"
)toml";

// A quarter of a ring, whose data balance but for what the mesh makes of arcs. Cuts run through the
// cells of the coarser mesh by which that is known.
constexpr char kArcs[] = R"toml(
[mesh]
dimension = 2
cells = [5, 6]
lower = [1.0, 0.0]
upper = [2.0, 1.0]
map = ["x*cos(pi/2*y)", "x*sin(pi/2*y)"]
[space]
degree = 1
[problem]
source = "1"
[boundary]
left = { type = "neumann" }
right = { type = "neumann", value = "-0.75" }
bottom = { type = "neumann" }
top = { type = "neumann" }
[solver]
preconditioner = "multigrid"
)toml";

CaseParameters parsed(const std::string& text) {
  CaseParameters parameters = make_case_registry().parse(text, "case.toml").parameters;
  parameters.run.device = RunDevice::cpu;
  resolve_choices(parameters);
  return parameters;
}

// A case, and the problem of its domain.
struct WholeCase {
  CaseParameters parameters;
  PoissonProblem problem;
  Problem whole;

  explicit WholeCase(const std::string& text)
      : parameters(parsed(text)), problem(tessera::make_problem(parameters)) {
    whole.discretization =
        std::make_unique<const Discretization>(tessera::make_discretization(parameters));
    whole.form = stiffness_form(problem, *whole.discretization);
  }
};

// What a rank has of a case: its form, problem, system and operator.
struct CaseOnRank {
  BilinearForm form;
  PoissonProblem problem;
  LinearSystem system;
  std::unique_ptr<LinearOperator<double, Host>> a;

  CaseOnRank(const WholeCase& of, const BilinearForm& own) : form(own), problem(of.problem) {
    if (form.part != nullptr) problem.part = form.part->rank;
    system = make_linear_system(problem, form, constant_field(0.0), Imbalance::taken_off);
    const FormShape shape = whole_shape(form, Processor::cpu, sizeof(double));
    a = make_operator<double>(choose_strategy(shape, "coloring"), form);
  }
};

struct Outcome {
  SolveReport report;
  std::vector<double> x;
  std::vector<std::string> notes;
};

Outcome solved(const WholeCase& of, CaseOnRank& mine) {
  const double size =
      mine.system.reference_norm / std::sqrt(static_cast<double>(mine.form.layout().whole_size()));
  const auto made = make_preconditioner<double, Host>({of.parameters, mine.form, *mine.a, size});
  const auto solver =
      make_solver<double, Host>(SolverMethod::cg, *mine.a, made.preconditioner.get(), {});
  Outcome outcome{solver->solve(mine.system.b, mine.system.x, to_tolerance(1e-11)), {}, made.notes};
  if (!made.update) return outcome;
  // Again, of an update to the same form and with data of another size. The inverse of an operator
  // that is only near to the form's has to be made anew.
  const bool is_near = of.parameters.solver.preconditioner == kFastDiagonalization;
  EXPECT_EQ(made.update(mine.form), is_near ? Updated::no : Updated::yes);
  multiply(mine.system.b, 0x1p30);
  multiply(mine.system.x, 0x1p30);
  double residual_size = size;
  adapt_to_size_of(mine.system.b, residual_size, made, *solver);
  EXPECT_EQ(residual_size == size, !made.set_residual_size);
  fill(mine.system.x, 0.0);
  for_each_face_node(mine.form.discretization->lattice, mine.form.dirichlet,
                     [&](Index node) { mine.system.x[node] = mine.system.b[node]; });
  (void)solver->solve(mine.system.b, mine.system.x, to_tolerance(1e-11));
  multiply(mine.system.x, 0x1p-30);
  return outcome;
}

// Starts by full multigrid; `x` is what it comes to.
Outcome started(const WholeCase& of, CaseOnRank& mine, Index gather_dofs) {
  MultigridOptions options = multigrid_options(of.parameters);
  options.rules.small_enough = 60;
  options.gather_dofs = gather_dofs;
  const auto made = make_multigrid<double, Host>(mine.form, options, mine.a.get());
  auto full = make_full_multigrid<double, Host>(mine.problem, *made.hierarchy, options.scatter,
                                                *mine.a, 1, 1.0);
  const auto cycle = [&](std::size_t level, const auto& r, auto& z) {
    made.cycle->cycle(level, r, z);
  };
  full.start.run(cycle, mine.system.b, mine.system.x);
  return {{}, {}, full.notes};
}

template <class Work>
Outcome on_one(const WholeCase& of, Work&& work) {
  const ThreadsInUse threads(1);
  CaseOnRank mine(of, of.whole.form);
  Outcome outcome = work(mine);
  outcome.x = values_of(mine.system.x);
  return outcome;
}

template <class Work>
Outcome on_ranks(const WholeCase& of, const RankGrid& grid, Work&& work) {
  const ThreadsInUse threads(1);
  const BoxPartition partition(of.whole.discretization->mesh, grid, {2, 2, 2});
  Outcome of_first;
  run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
    const RankProblem part(ranks, partition, of.whole);
    CaseOnRank mine(of, part.form());
    Outcome outcome = work(mine);
    EXPECT_TRUE(part.agrees(mine.system.x));
    outcome.x = part.gathered(mine.system.x);
    for (const std::string& note : outcome.notes) EXPECT_EQ(ranks.broadcast(note), note);
    if (ranks.rank() == 0) of_first = std::move(outcome);
  });
  return of_first;
}

void expect_near(const std::vector<double>& several, const std::vector<double>& one,
                 double tolerance) {
  EXPECT_LE(relative_difference(vector_of<double>(several), one), tolerance);
}

class PreconditionersOnRanks : public ::testing::TestWithParam<const char*> {};

TEST_P(PreconditionersOnRanks, AreThoseOfOneRank) {
  for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
    WholeCase of(kMixed);
    of.parameters.solver.preconditioner = GetParam();
    of.parameters.solver.multigrid.precision = precision;
    const auto work = [&](CaseOnRank& mine) { return solved(of, mine); };
    const Outcome one = on_one(of, work);
    EXPECT_EQ(one.report.status, SolveStatus::converged);
    const bool is_multigrid = of.parameters.solver.preconditioner == kMultigrid;
    const Outcome several =
        on_ranks(of, is_multigrid ? RankGrid{2, 2, 1} : RankGrid{1, 2, 1}, work);
    EXPECT_EQ(several.report.status, SolveStatus::converged);
    EXPECT_NEAR(several.report.iterations, one.report.iterations, 1);
    EXPECT_EQ(several.notes, one.notes);
    expect_near(several.x, one.x, 1e-8);
    if (!is_multigrid) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Names, PreconditionersOnRanks,
                         ::testing::Values("jacobi", "chebyshev", "multigrid",
                                           "fast-diagonalization"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(PreconditionersOfOneProcess, AreRefusedOnRanks) {
  for (const char* name : {"block-jacobi", "block-asynchronous-jacobi"}) {
    WholeCase of(kMixed);
    of.parameters.solver.preconditioner = name;
    (void)on_ranks(of, {1, 2, 1}, [&](CaseOnRank& mine) {
      try {
        (void)make_preconditioner<double, Host>({of.parameters, mine.form, *mine.a, 1.0});
        ADD_FAILURE() << name;
      } catch (const UnsuitableChoice& error) {
        EXPECT_EQ(error.choice(), Choice::preconditioner);
        EXPECT_EQ(error.what(),
                  std::string(name) + " needs one process; multigrid runs on any number");
      }
      return Outcome{};
    });
  }
}

TEST(FullMultigridOnRanks, StartsAsOnOneRank) {
  for (const char* text : {kMixed, kNeumann}) {
    const WholeCase of(text);
    const Outcome one = on_one(of, [&](CaseOnRank& mine) { return started(of, mine, 0); });
    EXPECT_TRUE(one.notes.empty());
    for (const RankGrid& grid : {RankGrid{1, 1, 1}, RankGrid{1, 2, 1}, RankGrid{3, 2, 1}}) {
      for (const Index gather_dofs : {Index{0}, Index{100}, Index{1'000'000}}) {
        const Outcome several =
            on_ranks(of, grid, [&](CaseOnRank& mine) { return started(of, mine, gather_dofs); });
        EXPECT_TRUE(several.notes.empty());
        const auto values = [&](const Outcome& outcome) {
          return text == kMixed ? outcome.x : without_mean(vector_of<double>(outcome.x));
        };
        SCOPED_TRACE(gather_dofs);
        SCOPED_TRACE(text);
        expect_near(values(several), values(one), 1e-12);
      }
    }
  }
}

TEST(BalanceOnRanks, IsHeldToTheErrorOfTheWholeMesh) {
  const WholeCase of(kArcs);
  double one = 0.0;
  (void)on_one(of, [&](CaseOnRank& mine) {
    one = make_linear_system(mine.problem, mine.form, constant_field(0.0), Imbalance::refused)
              .balance_defect;
    return Outcome{};
  });
  EXPECT_GT(std::abs(one), 1e-6);
  (void)on_ranks(of, {2, 2, 1}, [&](CaseOnRank& mine) {
    EXPECT_NEAR(make_linear_system(mine.problem, mine.form, constant_field(0.0), Imbalance::refused)
                    .balance_defect,
                one, 1e-12);
    PoissonProblem unbalanced = mine.problem;
    unbalanced.source = constant_field(1.2);
    EXPECT_THROW(
        (void)make_linear_system(unbalanced, mine.form, constant_field(0.0), Imbalance::refused),
        IncompatibleData);
    return Outcome{};
  });
}

// The source is infinite at a point that only the second level looks at, on one rank.
TEST(FullMultigridOnRanks, StartsWhereAllRanksHaveALoad) {
  for (const double part : {0.3, 0.8}) {
    WholeCase of(kNeumann);
    of.problem.boundary[0].type = BoundaryType::dirichlet;
    of.whole.form = stiffness_form(of.problem, *of.whole.discretization);
    // The first of three Gauss points of a cell of the second level, which has 6 along y.
    const double cell = std::floor(6.0 * part);
    const double y_bad = (cell + 0.5 - 0.5 * std::sqrt(0.6)) / 6.0;
    of.problem.source = field_of([=](double, double y, double) {
      return std::abs(y - y_bad) < 1e-6 ? std::numeric_limits<double>::infinity() : 1.0;
    });
    const Outcome one = on_one(of, [&](CaseOnRank& mine) { return started(of, mine, 0); });
    ASSERT_EQ(one.notes.size(), 1U);
    EXPECT_THAT(one.notes[0], ::testing::HasSubstr("full multigrid starts on level 0"));
    for (const Index gather_dofs : {Index{0}, Index{1'000'000}}) {
      const Outcome several =
          on_ranks(of, {1, 2, 1}, [&](CaseOnRank& mine) { return started(of, mine, gather_dofs); });
      ASSERT_EQ(several.notes.size(), 1U);
      EXPECT_THAT(several.notes[0], ::testing::HasSubstr("full multigrid starts on level 0"));
      expect_near(several.x, one.x, 1e-12);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
