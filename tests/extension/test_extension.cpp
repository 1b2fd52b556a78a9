// A kernel and a scatter policy with a row in their tables and nothing else: all commands know
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "operators/cells/scatter.hpp"
#include "operators/strategy.hpp"
#include "src/commands.hpp"
#include "src/parameters/messages/diagnostics.hpp"
#include "tests/extension/backward_scatter.hpp"
#include "tests/extension/dense_kernel.hpp"
#include "tests/extension/half_jacobi.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr char kCase[] = R"toml(
[mesh]
dimension = 2
cells = [6, 5]
map = ["x", "y + 0.1*x*x"]
[space]
degree = 3
[problem]
source = "1"
[output]
vtk = false
)toml";

constexpr char kStudy[] = R"toml(
[study]
dimensions = [2]
dofs = [400]
degrees = [2]
geometry = ["mapped"]
kernels = ["csr", "dense", "local"]
scatters = ["serial", "backward"]
threads = [2]
repetitions = 1
applications = 1
)toml";

class Extension : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    add_kernel(dense_kernel());
    add_scatter(backward_scatter());
    add_preconditioner(half_jacobi());
  }

  std::string written(const char* name, const char* text) const {
    const std::string path = directory_.path() / name;
    std::ofstream(path) << text;
    return path;
  }
  static Override set(const std::string& key, const std::string& value) {
    return {key + "=" + value};
  }

  TemporaryDirectory directory_;
};

TEST_F(Extension, OperatorsEqualTheReference) {
  ProblemOptions options;
  options.dimension = 2;
  options.cells = {5, 4, 1};
  const Problem problem = make_problem(options);
  const std::vector<double> x = random_values(problem.size(), 3);
  const std::vector<double> expected = Reference(problem.form).apply(x);
  for (const StrategyName& strategy : {StrategyName{"dense"}, StrategyName{"tensor", "backward"},
                                       StrategyName{"local", "backward"}}) {
    HostVector<double> y = poisoned<double>(problem.size());
    make_operator<double>(strategy, problem.form)->apply(vector_of<double>(x), y);
    EXPECT_LT(relative_difference(y, expected), 1e-13) << strategy.text();
  }
}

TEST_F(Extension, AppearsInTheList) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(list({}), ExitCode::success);
  std::fflush(stdout);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("\ndense "));
  EXPECT_THAT(text, HasSubstr("all entries of the matrix, zeros included"));
  EXPECT_THAT(text, HasSubstr("\nbackward "));
  EXPECT_THAT(text, HasSubstr("\nhalf-jacobi "));
}

TEST_F(Extension, AppearsInCheck) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(check({written("case.toml", kCase), {set("run.device", "cpu")}}), ExitCode::success);
  std::fflush(stdout);
  const std::string text = ::testing::internal::GetCapturedStdout();
  // 19 x 16 nodes.
  EXPECT_THAT(text, ContainsRegex("\ndense +722 KiB +2432\\.0 B +1\\.41 MiB "));
  EXPECT_THAT(text, HasSubstr("\ntensor/backward, stored "));
  EXPECT_THAT(text, HasSubstr("\nlocal/backward "));
}

TEST_F(Extension, Runs) {
  const std::string path = written("case.toml", kCase);
  const auto run_with = [&](const std::string& kernel, const std::string& scatter) {
    const std::string output = directory_.path() / kernel;
    EXPECT_EQ(run({path,
                   {set("operator.kernel", kernel), set("operator.scatter", scatter),
                    set("output.directory", output)},
                   Verbosity::quiet}),
              ExitCode::success);
    return nlohmann::json::parse(std::ifstream(output + "/result.json"));
  };
  const nlohmann::json dense = run_with("dense", "none");
  EXPECT_EQ(dense["kernel"], "dense");
  const nlohmann::json backward = run_with("tensor", "backward");
  EXPECT_EQ(backward["scatter"], "backward");
  EXPECT_NEAR(dense["solution"]["max"].get<double>(), backward["solution"]["max"].get<double>(),
              1e-6);
}

TEST_F(Extension, IsComparedWithTheOthers) {
  const std::string csv = directory_.path() / "study.csv";
  EXPECT_EQ(compare({written("study.toml", kStudy), {set("study.output", csv)}, Verbosity::quiet}),
            ExitCode::success);
  std::stringstream text;
  text << std::ifstream(csv).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(",dense,none,none,"));
  EXPECT_THAT(text.str(), HasSubstr(",local,backward,none,"));
  EXPECT_THAT(text.str(), ::testing::Not(HasSubstr("disagrees")));
}

TEST_F(Extension, SaysWhereItIsNotForACase) {
  try {
    run({written("case.toml", kCase),
         {set("operator.kernel", "dense"), set("operator.scatter", "none"),
          set("mesh.cells", "[40, 40]"), set("output.directory", directory_.path() / "out")},
         Verbosity::quiet});
    FAIL() << "14641 nodes were taken";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("operator.kernel"));
    EXPECT_THAT(error.what(), HasSubstr("at most 2000 nodes, and here are 14641"));
  }
}

TEST_F(Extension, PreconditionsRunsAndStudies) {
  const std::string path = written("case.toml", kCase);
  const std::vector<Override> choices = {set("solver.preconditioner", "half-jacobi"),
                                         set("output.directory", directory_.path() / "half")};
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(check({path, choices}), ExitCode::success);
  std::fflush(stdout);
  // 304 nodes.
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              ContainsRegex("\n  preconditioner +2\\.38 KiB\n"));
  EXPECT_EQ(run({path, choices, Verbosity::quiet}), ExitCode::success);
  const nlohmann::json result =
      nlohmann::json::parse(std::ifstream(directory_.path() / "half/result.json"));
  EXPECT_EQ(result["solver"]["preconditioner"], "half-jacobi");
  EXPECT_EQ(result["solver"]["status"], "converged");

  const std::string csv = directory_.path() / "solvers.csv";
  EXPECT_EQ(compare({written("study.toml", kStudy),
                     {set("study.output", csv), set("study.kernels", "[\"tensor\"]"),
                      set("study.solvers", "[\"jacobi\", \"half-jacobi\"]")},
                     Verbosity::quiet}),
            ExitCode::success);
  std::stringstream text;
  text << std::ifstream(csv).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(",half-jacobi,cg,"));
}

// What is made must be what its row says.
TEST_F(Extension, ThatMakesSomethingElseIsRefused) {
  KernelInfo liar = dense_kernel();
  liar.name = "liar";
  add_kernel(liar);
  ProblemOptions options;
  options.dimension = 2;
  const Problem problem = make_problem(options);
  EXPECT_THROW(make_operator<double>({"liar"}, problem.form), std::logic_error);
}

}  // namespace
}  // namespace tessera::testing
