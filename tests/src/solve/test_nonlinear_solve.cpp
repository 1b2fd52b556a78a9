// These tests solve non-linear cases whose solutions are known, and look at how.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "postprocess/solution_norms.hpp"
#include "src/case/choices.hpp"
#include "src/case/fields.hpp"
#include "src/case/model.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/solve/nonlinear/nonlinear_solve.hpp"
#include "src/solve/nonlinear/stationary_system.hpp"
#include "src/solve/vector_conversion.hpp"
#include "tests/everywhere.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// u = sin(x) exp(y) + z is harmonic: the source is that of the coefficient's gradient and of u^3.
std::string manufactured(int dimension, int degree, int cells, const std::string& more) {
  const bool is_2d = dimension == 2;
  const std::string u = is_2d ? "(sin(x)*exp(y))" : "(sin(x)*exp(y) + z)";
  const std::string square = is_2d ? "exp(2*y)" : "(exp(2*y) + 1)";
  std::string text = fmt::format(
      "[mesh]\ndimension = {0}\ncells = [{1}, {1}{2}]\n[space]\ndegree = {3}\n"
      "[problem]\ncoefficient = \"1 + u^2\"\nexact = \"{4}\"\n"
      "source = \"-2*{4}*{5} + {4}^3 - u^3\"\n"
      "[boundary]\nright = {{ type = \"neumann\", value = \"(1 + {4}^2)*cos(x)*exp(y)\" }}\n",
      dimension, cells, is_2d ? "" : fmt::format(", {}", cells), degree, u, square);
  std::vector<std::string> faces = {"left", "bottom", "top"};
  if (!is_2d) faces.insert(faces.end(), {"back", "front"});
  for (const std::string& face : faces) {
    text += fmt::format("{} = {{ type = \"dirichlet\", value = \"{}\" }}\n", face, u);
  }
  return text + more;
}

struct Solved {
  HostVector<double> u;
  SolveOutcome outcome;
  ErrorNorms error{};
  const NonlinearReport& report() const { return outcome.nonlinear->report; }
};

const SolveListeners kNoListeners = {
    [](int, double) { return Continue::yes; },
    [](const std::vector<LevelSummary>&, const std::vector<std::string>&) {}};

CaseParameters resolved(const std::string& text) {
  CaseParameters parameters = make_case_registry().parse(text, "case.toml").parameters;
  resolve_choices(parameters);
  return parameters;
}

Solved solve(const std::string& text, const SolveListeners& listeners = kNoListeners) {
  const ThreadsInUse threads(1);
  const CaseParameters parameters = resolved(text);
  const CaseModel model = make_case_model(parameters);
  Solved solved;
  solved.u = nonlinear_start(model, make_initial(parameters));
  TimerTree timers;
  solved.outcome = solve_nonlinear_case(parameters, model, solved.u, timers, listeners);
  if (const auto exact = make_exact(parameters)) {
    const HostSolutionNorms norms(model.discretization, solved.u);
    solved.error = error_norms(model, norms, *exact);
  }
  return solved;
}

double largest_difference(const HostVector<double>& a, const HostVector<double>& b) {
  double largest = 0.0;
  for (Index i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

constexpr char kNewton[] = "[nonlinear]\nrelative_tolerance = 1e-12\n";
constexpr char kPicard[] = "[nonlinear]\nmethod = \"picard\"\nrelative_tolerance = 1e-12\n";

class ManufacturedSolutions : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(ManufacturedSolutions, AreReachedAtTheRateOfTheDegree) {
  const auto [dimension, degree] = GetParam();
  const int cells = dimension == 2 ? 4 : 2;
  const Solved coarse = solve(manufactured(dimension, degree, cells, kNewton));
  const Solved fine = solve(manufactured(dimension, degree, 2 * cells, kNewton));
  EXPECT_EQ(coarse.report().status, NonlinearStatus::converged) << coarse.report().failure;
  EXPECT_EQ(fine.report().status, NonlinearStatus::converged) << fine.report().failure;
  EXPECT_GT(std::log2(coarse.error.l2 / fine.error.l2), degree + 1 - 0.2);
  EXPECT_GT(std::log2(coarse.error.h1_seminorm / fine.error.h1_seminorm), degree - 0.2);
  EXPECT_LT(fine.error.l2, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Degrees, ManufacturedSolutions,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Values(2, 3)));

TEST(NonlinearSolves, ComeToTheSameByEveryWay) {
  const std::string map = "map = [\"x + 0.1*sin(pi*y)*x*(1 - x)\", \"y\"]\n";
  std::string text = manufactured(2, 3, 4, "");
  text.insert(text.find("[space]"), map);
  const Solved newton = solve(text + kNewton);
  EXPECT_EQ(newton.report().status, NonlinearStatus::converged);
  EXPECT_LT(newton.error.l2, 1e-4);
  for (const char* more :
       {"[solver]\npreconditioner = \"jacobi\"\n", "[solver]\npreconditioner = \"chebyshev\"\n",
        "[solver]\npreconditioner = \"none\"\n", "[solver]\nmethod = \"bicgstab\"\n",
        "[solver.multigrid]\nprecision = \"double\"\n", "[operator]\nkernel = \"csr\"\n",
        "[operator]\nkernel = \"local\"\n",
        "[operator]\nkernel = \"tensor\"\nfactors = \"on-the-fly\"\n"}) {
    SCOPED_TRACE(more);
    const Solved other = solve(text + kNewton + more);
    EXPECT_EQ(other.report().status, NonlinearStatus::converged) << other.report().failure;
    EXPECT_LT(largest_difference(newton.u, other.u), 1e-9);
  }
  const Solved picard = solve(text + kPicard);
  EXPECT_EQ(picard.report().status, NonlinearStatus::converged) << picard.report().failure;
  EXPECT_LT(largest_difference(newton.u, picard.u), 1e-9);
  EXPECT_GT(picard.report().iterations, newton.report().iterations);
  const Solved plain = solve(text + kPicard + "acceleration = 0\nmax_iterations = 200\n");
  EXPECT_LT(largest_difference(newton.u, plain.u), 1e-9);
  EXPECT_GT(plain.report().iterations, picard.report().iterations);
}

/// Newton's systems solved as far as rounding lets.
template <class Space>
class ExactlySolved final : public NonlinearSystem<Space> {
 public:
  using V = Vector<double, Space>;
  explicit ExactlySolved(NonlinearSystem<Space>& inner) : inner_(inner) {}
  std::int64_t size() const override { return inner_.size(); }
  void residual(const V& u, V& r) override { inner_.residual(u, r); }
  void linearize(const V& u) override { inner_.linearize(u); }
  SolveReport solve(double, const V& b, V& x) override { return inner_.solve(1e-13, b, x); }

 private:
  NonlinearSystem<Space>& inner_;
};

class NonlinearSolvesEverywhere : public EveryProcessorTest<std::tuple<Processor>> {
 protected:
  static std::string run_table() {
    return processor() == Processor::cpu ? "[run]\ndevice = \"cpu\"\n"
                                         : "[run]\ndevice = \"cuda\"\n";
  }
};

// Of a Jacobian with a mistake in it the error would only shrink by a factor.
TEST_P(NonlinearSolvesEverywhere, OfNewtonSquareTheResidual) {
  const ThreadsInUse threads(1);
  for (const int dimension : {2, 3}) {
    const CaseParameters parameters =
        resolved(manufactured(dimension, 2, dimension == 2 ? 6 : 3,
                              "[nonlinear]\n[solver]\nrelative_tolerance = 1e-13\nmethod = "
                              "\"flexible-gmres\"\n" +
                                  run_table()));
    const CaseModel model = make_case_model(parameters);
    TimerTree timers;
    const NonlinearReport report = in_space_of_processor([&]<class Space>() {
      StationarySystem<Space> system(parameters, model.problem, model.discretization, timers);
      ExactlySolved<Space> exactly(system);
      Vector<double, Space> u = moved_to<Space>(nonlinear_start(model, make_initial(parameters)));
      NonlinearOptions options = nonlinear_options(*parameters.nonlinear);
      options.relative_tolerance = 1e-13;
      return solve_nonlinear<Space>(exactly, options, u);
    });
    EXPECT_EQ(report.status, NonlinearStatus::converged) << report.failure;
    const std::vector<double>& history = report.history;
    int seen = 0;
    for (std::size_t k = 1; k < history.size(); ++k) {
      // From where the theory holds to where rounding does.
      if (history[k - 1] > 0.03 || history[k] < 1e-12) continue;
      ++seen;
      EXPECT_GT(std::log(history[k]) / std::log(history[k - 1]), 1.6)
          << history[k - 1] << " -> " << history[k];
    }
    EXPECT_GE(seen, 1) << fmt::format("{}", fmt::join(history, ", "));
    EXPECT_LE(report.iterations, 9);
  }
}

// In 3D on a curved mesh, of a problem with every kind of data.
TEST_P(NonlinearSolvesEverywhere, ComeToTheSolutionOfTheHostByEveryWay) {
  std::string text = manufactured(3, 2, 2, "");
  text.insert(text.find("[space]"),
              "map = [\"x + 0.1*sin(pi*y)*x*(1 - x)\", \"y\", \"z + 0.05*x*z*(1 - z)\"]\n");
  const Solved of_host = solve(text + kNewton + "[run]\ndevice = \"cpu\"\n");
  EXPECT_EQ(of_host.report().status, NonlinearStatus::converged);
  for (const char* more :
       {"", "[solver]\nmethod = \"bicgstab\"\n", "[solver]\npreconditioner = \"jacobi\"\n",
        "[solver]\npreconditioner = \"chebyshev\"\n",
        "[solver.multigrid]\nprecision = \"double\"\n", "[operator]\nkernel = \"csr\"\n",
        "[operator]\nkernel = \"local\"\n",
        "[operator]\nkernel = \"tensor\"\nfactors = \"on-the-fly\"\n",
        "[operator]\nkernel = \"tensor\"\nfactors = \"stored\"\n"}) {
    SCOPED_TRACE(more);
    const Solved other = solve(text + kNewton + more + run_table());
    EXPECT_EQ(other.report().status, NonlinearStatus::converged) << other.report().failure;
    EXPECT_LT(largest_difference(of_host.u, other.u), 1e-8);
  }
  const Solved picard = solve(text + kPicard + run_table());
  EXPECT_EQ(picard.report().status, NonlinearStatus::converged) << picard.report().failure;
  EXPECT_LT(largest_difference(of_host.u, picard.u), 1e-8);
}

// The derivative of the source alone, with a reaction of either sign; a Robin face.
TEST_P(NonlinearSolvesEverywhere, WithASourceOfUAreThoseOfTheHost) {
  for (const char* source : {"5*exp(u)", "10*u - 10*u^3 + 1"}) {
    SCOPED_TRACE(source);
    const std::string text = fmt::format(
        "[mesh]\ndimension = 2\ncells = [6, 6]\n[space]\ndegree = 2\n[problem]\nsource = "
        "\"{}\"\nreaction = \"1 + x\"\n[boundary]\n"
        "left = {{ type = \"robin\", alpha = \"2 + y\", value = \"y\" }}\n",
        source);
    const Solved of_host = solve(text + kNewton + "[run]\ndevice = \"cpu\"\n");
    for (const char* more : {"", "[solver]\npreconditioner = \"chebyshev\"\n"}) {
      const Solved other = solve(text + kNewton + more + run_table());
      EXPECT_EQ(other.report().status, NonlinearStatus::converged) << other.report().failure;
      EXPECT_LT(largest_difference(of_host.u, other.u), 1e-9);
    }
    const Solved picard = solve(text + kPicard + run_table());
    EXPECT_LT(largest_difference(of_host.u, picard.u), 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Places, NonlinearSolvesEverywhere,
                         ::testing::Combine(::testing::ValuesIn(every_processor())),
                         [](const auto& test) { return place_name(std::get<0>(test.param)); });

// -Laplace(u) = u^2 - 6 + ...: the derivative of the source alone, with a reaction of either sign.
TEST(NonlinearSolves, WithASourceOfUAreSymmetric) {
  for (const char* source : {"5*exp(u)", "1 - u^3", "10*u - 10*u^3 + 1"}) {
    SCOPED_TRACE(source);
    const std::string text = fmt::format(
        "[mesh]\ndimension = 2\ncells = [6, 6]\n[space]\ndegree = 2\n[problem]\nsource = \"{}\"\n",
        source);
    EXPECT_EQ(resolved(text + kNewton).solver.method, SolverMethod::cg);
    const Solved by_cg = solve(text + kNewton);
    EXPECT_EQ(by_cg.report().status, NonlinearStatus::converged) << by_cg.report().failure;
    const Solved by_gmres = solve(text + kNewton + "[solver]\nmethod = \"flexible-gmres\"\n");
    EXPECT_LT(largest_difference(by_cg.u, by_gmres.u), 1e-9);
    const Solved by_chebyshev =
        solve(text + kNewton + "[solver]\npreconditioner = \"chebyshev\"\n");
    EXPECT_LT(largest_difference(by_cg.u, by_chebyshev.u), 1e-9);
  }
}

// Picard's matrix does not depend on u: it is that of a linear problem, and solved as such.
TEST(NonlinearSolves, OfPicardWithASourceOfUAloneHaveOneMatrix) {
  const std::string text =
      "[mesh]\ndimension = 2\ncells = [6, 6]\n[space]\ndegree = 2\n[problem]\n"
      "source = \"5*exp(u)\"\n";
  const CaseParameters parameters = resolved(text + kPicard);
  EXPECT_EQ(parameters.solver.preconditioner, "fast-diagonalization");
  const Solved picard = solve(text + kPicard);
  EXPECT_EQ(picard.report().status, NonlinearStatus::converged) << picard.report().failure;
  for (const int iterations : picard.report().linear_iterations) EXPECT_EQ(iterations, 1);
  EXPECT_LT(largest_difference(picard.u, solve(text + kNewton).u), 1e-9);
}

TEST(NonlinearSolves, WithNeumannFacesOnlyNeedASourceOfU) {
  const std::string faces =
      "[boundary]\nleft = { type = \"neumann\" }\nright = { type = \"neumann\" }\n"
      "bottom = { type = \"neumann\" }\ntop = { type = \"neumann\" }\n";
  const std::string mesh = "[mesh]\ndimension = 2\ncells = [4, 4]\n[problem]\n";
  const Solved solved = solve(mesh + "source = \"8 - u^3\"\ncoefficient = \"1 + u^2\"\n" + faces +
                              kNewton + "[solver]\ninitial = \"1 + x\"\n");
  EXPECT_EQ(solved.report().status, NonlinearStatus::converged) << solved.report().failure;
  for (Index i = 0; i < solved.u.size(); ++i) EXPECT_NEAR(solved.u[i], 2.0, 1e-9);
  const auto key_of = [&](const std::string& text) -> std::string {
    try {
      solve(text);
    } catch (const UndeterminedSolution& error) {
      return error.key();
    }
    return "";
  };
  EXPECT_EQ(key_of(mesh + "coefficient = \"1 + u^2\"\n" + faces + kNewton), "problem.coefficient");
  EXPECT_EQ(key_of(mesh + "source = \"8 - u^3\"\n" + faces + kPicard), "nonlinear.method");
  EXPECT_EQ(key_of(mesh + "reaction = \"1\"\nsource = \"8 - u^3\"\n" + faces + kPicard), "");
}

constexpr char kBratu[] = "[mesh]\ndimension = 2\ncells = [6, 6]\n[space]\ndegree = 2\n[problem]\n";

// Beyond 6.81 there is no solution.
TEST(NonlinearSolves, WithoutASolutionSaySo) {
  const std::string beyond = std::string(kBratu) + "source = \"8*exp(u)\"\n";
  const Solved indefinite = solve(beyond + kNewton);
  EXPECT_EQ(indefinite.report().status, NonlinearStatus::linear_solver_failed);
  EXPECT_THAT(indefinite.report().failure, HasSubstr("indefinite"));
  ASSERT_EQ(indefinite.outcome.nonlinear->remedies.size(), 2U);
  EXPECT_THAT(indefinite.outcome.nonlinear->remedies[0], HasSubstr("not positive definite"));
  EXPECT_THAT(indefinite.outcome.nonlinear->remedies[1], HasSubstr("may have no solution"));
  for (const char* more : {"[solver]\nmethod = \"flexible-gmres\"\n", ""}) {
    const Solved solved = solve(beyond + (*more == '\0' ? kPicard : kNewton) + more);
    EXPECT_NE(solved.report().status, NonlinearStatus::converged);
    EXPECT_NE(solved.outcome.report.status, SolveStatus::converged);
    EXPECT_NE(solved.report().failure, "");
    EXPECT_FALSE(solved.outcome.nonlinear->remedies.empty());
  }
  EXPECT_EQ(solve(std::string(kBratu) + "source = \"6*exp(u)\"\n" + kNewton).report().status,
            NonlinearStatus::converged);
}

TEST(NonlinearSolves, NameTheValueThatIsNotAllowed) {
  const std::string shrinking = std::string(kBratu) + "source = \"3\"\ncoefficient = \"1 - 4*u\"\n";
  const Solved solved = solve(shrinking + kNewton);
  EXPECT_EQ(solved.report().status, NonlinearStatus::not_finite);
  EXPECT_THAT(solved.report().failure, HasSubstr("problem.coefficient is -"));
  EXPECT_THAT(solved.report().failure, HasSubstr("with u = 0."));
  // At the start it is a mistake of the case.
  EXPECT_THROW(solve(shrinking + kNewton + "[solver]\ninitial = \"1\"\n"), BadExpressionValue);
  // The derivative of sqrt(u) at 0.
  const Solved root =
      solve(std::string(kBratu) + "source = \"3\"\ncoefficient = \"1 + sqrt(u)\"\n" + kNewton);
  EXPECT_EQ(root.report().status, NonlinearStatus::linear_solver_failed);
  EXPECT_THAT(root.report().failure, HasSubstr("the derivative of the coefficient in u"));
}

TEST(NonlinearSolves, CanBeStopped) {
  const std::string text = std::string(kBratu) + "source = \"6*exp(u)\"\n" + kNewton;
  int calls = 0;
  const SolveListeners listeners = {
      [&](int, double) { return ++calls < 2 ? Continue::yes : Continue::no; },
      kNoListeners.preconditioner};
  const Solved solved = solve(text, listeners);
  EXPECT_EQ(solved.report().status, NonlinearStatus::interrupted);
  EXPECT_EQ(solved.outcome.report.status, SolveStatus::interrupted);
  EXPECT_EQ(solved.report().iterations, 2);
  EXPECT_THAT(solved.outcome.nonlinear->remedies, IsEmpty());
}

TEST(NonlinearSolves, ThatStartAtTheSolutionAreDone) {
  const Solved solved = solve(std::string(kBratu) + "source = \"u\"\n" + kNewton);
  EXPECT_EQ(solved.report().status, NonlinearStatus::converged);
  EXPECT_EQ(solved.report().iterations, 0);
  EXPECT_EQ(solved.outcome.report.iterations, 0);
}

TEST(NonlinearSolves, HaveAMethodForTheirMatrix) {
  const std::string text = std::string(kBratu) + "coefficient = \"1 + u\"\n";
  CaseParameters parameters = make_case_registry().parse(text + kNewton, "case.toml").parameters;
  const auto choices = resolve_choices(parameters);
  EXPECT_EQ(parameters.solver.method, SolverMethod::flexible_gmres);
  EXPECT_THAT(reason_text(choices, "solver.method"), HasSubstr("not symmetric"));
  EXPECT_EQ(resolved(text + kPicard).solver.method, SolverMethod::cg);
  EXPECT_EQ(resolved(text + kNewton + "[solver]\nmethod = \"bicgstab\"\n").solver.method,
            SolverMethod::bicgstab);
  for (const char* method : {"cg", "richardson", "pipelined-cg"}) {
    try {
      resolved(text + kNewton + fmt::format("[solver]\nmethod = \"{}\"\n", method));
      ADD_FAILURE() << method << " is accepted";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("solver.method"));
      EXPECT_THAT(error.what(), HasSubstr("needs a symmetric matrix"));
    }
  }
  EXPECT_NO_THROW(resolved(text + kPicard + "[solver]\nmethod = \"cg\"\n"));
  EXPECT_NO_THROW(resolved(std::string(kBratu) + "source = \"exp(u)\"\n" + kNewton +
                           "[solver]\nmethod = \"cg\"\n"));
}

}  // namespace
}  // namespace tessera::testing
