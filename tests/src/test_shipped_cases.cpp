// These tests hold the shipped cases to the comments in their files.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/device_test.hpp"
#include "tests/src/shipped_cases.hpp"

namespace tessera::testing {
namespace {

// Small levels of multigrid are coarsened otherwise on the GPU.
constexpr double kIterationSpreadOnTheGpu = 0.6;

class ShippedCase : public ::testing::TestWithParam<std::string> {};

void expect_what_comment_says(const std::string& name, const std::vector<std::string>& more,
                              double iteration_spread) {
  const TemporaryDirectory directory;
  std::vector<std::string> arguments = {"run", shipped(name + ".toml").string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramResult ran = run_program(directory.path(), arguments);
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  expect_result_of_comment(name, directory.path(), iteration_spread);
}

TEST_P(ShippedCase, GivesWhatItsCommentSays) { expect_what_comment_says(GetParam(), {}, kSpread); }

TEST_P(ShippedCase, GivesTheSameOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  expect_what_comment_says(GetParam(), {"--set", "run.device=cuda"}, kIterationSpreadOnTheGpu);
}

INSTANTIATE_TEST_SUITE_P(Cases, ShippedCase, ::testing::ValuesIn(shipped_cases()),
                         [](const auto& test) { return test.param; });

TEST(ShippedStudy, SmallComparisonAgrees) {
  const TemporaryDirectory directory;
  const ProgramResult ran =
      run_program(directory.path(), {"compare", shipped("compare_small.toml").string(), "--set",
                                     "study.repetitions=1", "--set", "study.applications=1",
                                     "--set", "study.dofs=[3000]"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
}

TEST(ShippedStudy, SmallComparisonAgreesOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  const TemporaryDirectory directory;
  const ProgramResult ran = run_program(
      directory.path(),
      {"compare", shipped("compare_small.toml").string(), "--set", "study.device=cuda", "--set",
       "study.repetitions=1", "--set", "study.applications=1", "--set", "study.dofs=[3000]",
       "--set", "study.transfers=true", "--set",
       "study.scatters=[\"atomic\",\"coloring\",\"private\",\"patch\",\"unprotected\"]"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
}

void expect_solvers_converge(const std::vector<std::string>& settings) {
  const TemporaryDirectory directory;
  std::vector<std::string> arguments = {"compare", shipped("compare_solvers.toml").string(),
                                        "--set",   "study.dofs=[3000]",
                                        "--set",   "study.repetitions=1",
                                        "--set",   "study.output=solvers.csv"};
  arguments.insert(arguments.end(), settings.begin(), settings.end());
  const ProgramResult ran = run_program(directory.path(), arguments);
  EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
  std::istringstream csv(read_rows(directory.path() / "solvers.csv"));
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line.substr(0, 9), "dimension");
  int rows = 0;
  while (std::getline(csv, line)) {
    ++rows;
    // Full multigrid is a start, whose cycles are given: it need not reach the tolerance.
    const bool is_start = line.find("full-multigrid") != std::string::npos;
    EXPECT_TRUE(line.ends_with(is_start ? "start, above tolerance\",1,1,," : "converged,1,1,,"))
        << line;
  }
  EXPECT_EQ(rows, 6) << "three solvers on two meshes";
}

TEST(ShippedStudy, SolversConverge) { expect_solvers_converge({}); }

TEST(ShippedStudy, SolversConvergeOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  expect_solvers_converge({"--set", "study.device=cuda"});
}

}  // namespace
}  // namespace tessera::testing
