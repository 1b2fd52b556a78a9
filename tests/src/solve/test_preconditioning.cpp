// These tests run every preconditioner and method of the program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cases/problem/poisson_problem.hpp"
#include "mesh/threads_in_use.hpp"
#include "postprocess/error_norms.hpp"
#include "src/case/choices.hpp"
#include "src/case/memory/multigrid_memory.hpp"
#include "src/case/model.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/solve/solve.hpp"
#include "tests/device_test.hpp"

namespace tessera::testing {
namespace {

// Dirichlet, Neumann and Robin faces; the exact solution is exp(x) sin(y).
constexpr char kMixed2d[] = R"toml(
[mesh]
dimension = 2
cells = [9, 7]
[space]
degree = 3
[problem]
coefficient = "1 + x"
source = "-exp(x)*sin(y)"
exact = "exp(x)*sin(y)"
[boundary]
left = { value = "sin(y)" }
right = { type = "neumann", value = "2*exp(1)*sin(y)" }
top = { type = "robin", alpha = "2", value = "(1 + x)*exp(x)*cos(1) + 2*exp(x)*sin(1)" }
)toml";

// Laplace's equation, whose exact solution is given on all faces.
std::string with_harmonic_solution(const std::string& mesh_and_space,
                                   const std::vector<std::string>& faces,
                                   const std::string& exact) {
  std::string text = fmt::format("{}[problem]\nsource = \"0\"\nexact = \"{}\"\n[boundary]\n",
                                 mesh_and_space, exact);
  for (const std::string& face : faces) {
    text += fmt::format("{} = {{ value = \"{}\" }}\n", face, exact);
  }
  return text;
}
std::string with_harmonic_solution_3d(const std::string& mesh_and_space) {
  return with_harmonic_solution(mesh_and_space, {"left", "right", "bottom", "top", "back", "front"},
                                "x*y*z + sin(x)*cosh(z)");
}

const std::string kUniform3d =
    with_harmonic_solution_3d("[mesh]\ncells = [5, 4, 6]\n[space]\ndegree = 2\n");
// A quarter of a pipe.
const std::string kCurved3d = with_harmonic_solution_3d(R"toml(
[mesh]
cells = [3, 7, 4]
lower = [1.0, 0.0, 0.0]
upper = [2.0, 1.0, 1.5]
map = ["x*cos(pi/2*y)", "x*sin(pi/2*y)", "z"]
[space]
degree = 2
)toml");
const std::string kCurved2d =
    with_harmonic_solution(R"toml(
[mesh]
dimension = 2
cells = [6, 11]
lower = [1.0, 0.0]
upper = [2.0, 1.0]
map = ["x*cos(pi/2*y)", "x*sin(pi/2*y)"]
[space]
degree = 3
)toml",
                           {"left", "right", "bottom", "top"}, "exp(x)*sin(y)");

std::vector<std::string> cases() { return {kMixed2d, kUniform3d, kCurved2d, kCurved3d}; }

// Kernel and geometry are chosen as a run chooses them.
CaseParameters parsed(const std::string& text) {
  CaseParameters parameters = make_case_registry().parse(text, "case.toml").parameters;
  if (parameters.solver.preconditioner == kAuto) {
    parameters.solver.preconditioner = kNoPreconditioner;
  }
  parameters.run.device = RunDevice::cpu;
  resolve_choices(parameters);
  return parameters;
}

struct Solved {
  SolveOutcome outcome;
  HostVector<double> x;
  /// Of the error.
  double l2 = 0.0;
};

Solved solved(const CaseParameters& parameters) {
  const Discretization discretization = make_discretization(parameters);
  const PoissonProblem problem = make_problem(parameters);
  const BilinearForm form = stiffness_form(problem, discretization);
  LinearSystem system = make_linear_system(problem, discretization, constant_field(0.0));
  TimerTree timers;
  { const auto setup = timers.scope("setup"); }
  SolveListeners listeners;
  listeners.iteration = [](int, double) { return Continue::yes; };
  listeners.preconditioner = [](const auto&, const auto&) {};
  Solved result{solve(parameters, problem, form, system, timers, listeners), {}, 0.0};
  result.x = std::move(system.x);
  result.l2 = error_norms(discretization, result.x.span(), *make_exact(parameters)).l2;
  return result;
}

double largest_difference(const HostVector<double>& x, const HostVector<double>& y) {
  double difference = 0.0;
  for (Index i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i] - y[i])) return std::numeric_limits<double>::quiet_NaN();
    difference = std::max(difference, std::abs(x[i] - y[i]));
  }
  return difference;
}

struct Choice {
  std::string preconditioner;
  Precision cycle = Precision::double_precision;
};
const Choice kChoices[] = {{"none"},
                           {"jacobi"},
                           {"chebyshev"},
                           {"multigrid"},
                           {"multigrid", Precision::single_precision},
                           {"fast-diagonalization"},
                           {"block-jacobi"}};
constexpr SolverMethod kMethods[] = {
    SolverMethod::cg,          SolverMethod::single_reduction_cg, SolverMethod::pipelined_cg,
    SolverMethod::flexible_cg, SolverMethod::flexible_gmres,      SolverMethod::bicgstab};

void expect_same_solutions(RunDevice device) {
  const ThreadsInUse threads(1);
  for (const std::string& text : cases()) {
    CaseParameters parameters = parsed(text);
    parameters.solver.relative_tolerance = 1e-12;
    const Solved expected = solved(parameters);
    ASSERT_EQ(expected.outcome.report.status, SolveStatus::converged);
    parameters.run.device = device;
    parameters.solver.relative_tolerance = 1e-9;
    // As many directions as iterations, which a restart would make more.
    parameters.solver.restart = 200;
    const int plain = expected.outcome.report.iterations;
    for (const Choice& choice : kChoices) {
      parameters.solver.preconditioner = choice.preconditioner;
      parameters.solver.multigrid.precision = choice.cycle;
      for (const SolverMethod method : kMethods) {
        // Refused: rounding in the preconditioner is too much for it.
        if (method == SolverMethod::pipelined_cg && choice.cycle == Precision::single_precision) {
          continue;
        }
        parameters.solver.method = method;
        SCOPED_TRACE(fmt::format("{}D, preconditioner {}, method {}", parameters.mesh.dimension,
                                 choice.preconditioner, name_of(method)));
        const Solved found = solved(parameters);
        EXPECT_EQ(found.outcome.report.status, SolveStatus::converged);
        EXPECT_LE(found.outcome.report.true_relative_residual, 1e-9);
        EXPECT_LT(largest_difference(found.x, expected.x), 1e-6);
        EXPECT_LE(found.outcome.report.iterations, plain);
        if (choice.preconditioner == "multigrid") {
          EXPECT_LE(found.outcome.report.iterations, 16);
        }
      }
    }
  }
}

TEST(PreconditionersAndMethods, GiveTheSameSolution) { expect_same_solutions(RunDevice::cpu); }

TEST(PreconditionersAndMethods, OnTheGpuGiveTheSameSolution) {
  TESSERA_REQUIRE_DEVICE();
  expect_same_solutions(RunDevice::cuda);
}

TEST(PreconditionersAndMethods, InSinglePrecisionGiveTheSameSolution) {
  const ThreadsInUse threads(1);
  for (const std::string& text : cases()) {
    CaseParameters parameters = parsed(text);
    parameters.solver.relative_tolerance = 1e-12;
    const Solved expected = solved(parameters);
    parameters.operation.precision = Precision::single_precision;
    parameters.solver.relative_tolerance = 2e-5;
    for (const Choice& choice : kChoices) {
      parameters.solver.preconditioner = choice.preconditioner;
      SCOPED_TRACE(
          fmt::format("{}D, preconditioner {}", parameters.mesh.dimension, choice.preconditioner));
      const Solved found = solved(parameters);
      EXPECT_EQ(found.outcome.report.status, SolveStatus::converged);
      EXPECT_LT(largest_difference(found.x, expected.x), 1e-2);
    }
  }
}

// Data of any size: residuals are scaled before they are rounded.
TEST(Multigrid, InSinglePrecisionTakesDataOfAnySize) {
  for (const char* size : {"1e-60", "1e60"}) {
    CaseParameters parameters = parsed(
        fmt::format("[mesh]\ncells = [6, 6, 6]\n[space]\ndegree = 2\n[problem]\nsource = \"{}\"\n"
                    "exact = \"0\"\n[solver]\npreconditioner = \"multigrid\"\n",
                    size));
    ASSERT_EQ(parameters.solver.multigrid.precision, Precision::single_precision);
    const Solved found = solved(parameters);
    EXPECT_EQ(found.outcome.report.status, SolveStatus::converged) << size;
    EXPECT_LE(found.outcome.report.iterations, 8) << size;
  }
}

void expect_foreseen_levels(const CaseParameters& parameters) {
  const std::vector<LevelSummary> foreseen = planned_levels(parameters);
  const std::vector<LevelSummary> made = solved(parameters).outcome.levels;
  ASSERT_EQ(foreseen.size(), made.size());
  EXPECT_GE(made.size(), 2U);
  for (std::size_t l = 0; l < made.size(); ++l) {
    EXPECT_EQ(foreseen[l].shape, made[l].shape) << l;
    EXPECT_EQ(foreseen[l].dofs, made[l].dofs) << l;
    EXPECT_EQ(foreseen[l].strategy, made[l].strategy) << l;
    // Rows of cells are filled up to whole SIMD vectors, which small meshes feel.
    EXPECT_NEAR(foreseen[l].cycle_bytes, made[l].cycle_bytes, 0.4 * made[l].cycle_bytes) << l;
    EXPECT_NEAR(static_cast<double>(foreseen[l].bytes), static_cast<double>(made[l].bytes),
                0.4 * static_cast<double>(made[l].bytes) + (1 << 16))
        << l;
  }
}

// Coarsest levels have a few hundred DoFs, so that their inverses are soon made.
std::vector<CaseParameters> cases_to_foresee() {
  std::vector<CaseParameters> all;
  for (const char* text :
       {// Odd counts.
        "[mesh]\ncells = [11, 8, 9]\n[space]\ndegree = 3\n",
        // Long cells.
        "[mesh]\ncells = [12, 12, 12]\nupper = [1.0, 7.0, 1.0]\n[space]\ndegree = 2\n",
        // Long where they are mapped.
        "[mesh]\ndimension = 2\ncells = [25, 30]\nmap = [\"4*x\", \"y + 0.1*sin(x)\"]\n"
        "[space]\ndegree = 4\n",
        "[mesh]\ncells = [10, 9, 10]\nmap = [\"x\", \"y + 0.1*sin(x)\", \"z + 0.1*x*y\"]\n"
        "[space]\ndegree = 2\n",
        // Graded.
        "[mesh]\ndimension = 2\ncells = [33, 40]\nspacing = [{ geometric = 1.1 }, \"uniform\"]\n"
        "[space]\ndegree = 2\n"}) {
    for (const char* coefficient : {"1", "1 + x*y"}) {
      CaseParameters parameters =
          parsed(std::string(text) + "[problem]\nsource = \"1\"\nexact = \"0\"\ncoefficient = \"" +
                 coefficient + "\"\n[solver]\npreconditioner = \"multigrid\"\n");
      parameters.solver.max_iterations = 0;
      all.push_back(parameters);
    }
    all.push_back(all.back());
    all.back().solver.multigrid.precision = Precision::double_precision;
    all.back().solver.multigrid.coarsening = CoarseningChoice::degree_first;
  }
  all.push_back(all.front());
  all.back().solver.multigrid.levels = 2;
  return all;
}

TEST(PlannedLevels, AreThoseThatAreMade) {
  for (const CaseParameters& parameters : cases_to_foresee()) {
    SCOPED_TRACE(make_case_registry().to_toml(parameters));
    expect_foreseen_levels(parameters);
  }
}

TEST(PlannedLevels, OnTheGpuAreThoseThatAreMade) {
  TESSERA_REQUIRE_DEVICE();
  for (CaseParameters parameters : cases_to_foresee()) {
    SCOPED_TRACE(make_case_registry().to_toml(parameters));
    parameters.run.device = RunDevice::cuda;
    expect_foreseen_levels(parameters);
  }
}

void expect_error_of_the_discretization(RunDevice device) {
  for (const std::string& text : cases()) {
    for (const int degree : {1, 2, 4}) {
      CaseParameters parameters = make_case_registry().parse(text, "case.toml").parameters;
      parameters.space.degree = degree;
      parameters.space.points = degree + 1;
      // About as many nodes of every degree, and several levels.
      const int nodes = parameters.mesh.dimension == 2 ? 48 : 16;
      for (auto& cells : parameters.mesh.cells) cells = nodes / degree + cells % 3;
      parameters.run.device = device;
      resolve_choices(parameters);
      parameters.solver.preconditioner = "multigrid";
      parameters.solver.relative_tolerance = 1e-12;
      const Solved converged = solved(parameters);
      ASSERT_EQ(converged.outcome.report.status, SolveStatus::converged);
      parameters.solver.initial = kFullMultigrid;
      parameters.solver.multigrid.start_cycles = 2;
      parameters.solver.max_iterations = 0;
      for (const CoarseningChoice order :
           {CoarseningChoice::degree_first, CoarseningChoice::cells_first}) {
        // From degree 2 to 4 the error falls further than by two cycles.
        if (order == CoarseningChoice::degree_first && degree == 4) continue;
        parameters.solver.multigrid.coarsening = order;
        const Solved started = solved(parameters);
        EXPECT_EQ(started.outcome.report.iterations, 0);
        EXPECT_LT(started.l2, 1.5 * converged.l2)
            << parameters.mesh.dimension << "D, degree " << degree;
        EXPECT_GT(started.l2, 0.5 * converged.l2);
      }
    }
  }
}

TEST(FullMultigrid, LeavesTheErrorOfTheDiscretizationAfterTwoCycles) {
  expect_error_of_the_discretization(RunDevice::cpu);
}

TEST(FullMultigrid, OnTheGpuLeavesTheErrorOfTheDiscretizationAfterTwoCycles) {
  TESSERA_REQUIRE_DEVICE();
  expect_error_of_the_discretization(RunDevice::cuda);
}

constexpr char kBent[] = R"toml(
[mesh]
cells = [9, 8, 7]
map = ["2*x + 0.05*sin(pi*x)*sin(pi*y)", "y - 0.04*sin(pi*z)", "z + 0.1*x*y"]
[space]
degree = 3
[problem]
coefficient = "1 + 0.5*sin(x*y) + z^2"
source = "exp(x) - y*z"
[boundary]
front = { type = "neumann", value = "x" }
[solver]
preconditioner = "multigrid"
relative_tolerance = 1e-10
)toml";

// Whether the squares of a load are numbers: else the host assembles it, and has the start as well.
enum class Squares { safe, lost };

// Of a run on this processor, made and solved there.
HostVector<double> solution_of(CaseParameters parameters, RunDevice device, SolutionPlace wanted,
                               Squares squares) {
  parameters.run.device = device;
  resolve_choices(parameters);
  const Processor processor = case_processor(parameters);
  const CaseModel model = make_case_model(parameters, processor);
  const BilinearForm form = stiffness_form(model.problem, model.discretization);
  LinearSystem system = make_linear_system(model, make_initial(parameters), processor, wanted);
  const bool stays =
      processor == Processor::gpu && wanted == SolutionPlace::anywhere && squares == Squares::safe;
  EXPECT_EQ(system.x.size() == 0, stays);
  TimerTree timers;
  { const auto setup = timers.scope("setup"); }
  SolveListeners listeners;
  listeners.iteration = [](int, double) { return Continue::yes; };
  listeners.preconditioner = [](const auto&, const auto&) {};
  const SolveOutcome outcome = solve(parameters, model.problem, form, system, timers, listeners);
  EXPECT_EQ(outcome.report.status, SolveStatus::converged);
  if constexpr (kHasCuda) {
    if (stays) {
      system.x = HostVector<double>(model.discretization.lattice.size());
      copy(*system.x_on_gpu, system.x);
    }
  }
  return std::move(system.x);
}

void expect_the_hosts_solution(CaseParameters parameters, Squares squares = Squares::safe) {
  const HostVector<double> expected =
      solution_of(parameters, RunDevice::cpu, SolutionPlace::host, squares);
  double size = 0.0;
  for (Index i = 0; i < expected.size(); ++i) size = std::max(size, std::abs(expected[i]));
  for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
    const bool is_single = precision == Precision::single_precision;
    parameters.operation.precision = precision;
    if (is_single) parameters.solver.relative_tolerance = 1e-4;
    for (const SolutionPlace wanted : {SolutionPlace::host, SolutionPlace::anywhere}) {
      EXPECT_LT(
          largest_difference(solution_of(parameters, RunDevice::cuda, wanted, squares), expected),
          (is_single ? 1e-2 : 1e-8) * size);
    }
  }
}

TEST(DeviceRun, HasTheSolutionOfTheHostWhereverItStays) {
  TESSERA_REQUIRE_DEVICE();
  expect_the_hosts_solution(make_case_registry().parse(kBent, "case.toml").parameters);
}

// The system is divided by a number, with the values that the solve starts with.
TEST(DeviceRun, StartsWithTheValuesOfFaces) {
  TESSERA_REQUIRE_DEVICE();
  CaseParameters parameters = make_case_registry().parse(kBent, "case.toml").parameters;
  for (const char* const unit : {"1", "1e-7", "3e150"}) {
    SCOPED_TRACE(unit);
    parameters.boundary[static_cast<int>(Face::left)].value = std::string(unit) + "*(1 + y)";
    parameters.boundary[static_cast<int>(Face::top)].value = std::string(unit) + "*x*z";
    parameters.problem.source = std::string(unit) + "*(exp(x) - y*z)";
    parameters.boundary[static_cast<int>(Face::front)].value = std::string(unit) + "*x";
    const Squares squares = unit == std::string("3e150") ? Squares::lost : Squares::safe;
    for (const char* const initial : {"0", kFullMultigrid}) {
      parameters.solver.initial = initial;
      expect_the_hosts_solution(parameters, squares);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
