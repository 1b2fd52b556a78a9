// These tests give the option --launches as a user does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/device_test.hpp"
#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kCase[] =
    "[mesh]\ncells = [4, 4, 4]\nmap = [\"x\", \"y\", \"z + 0.1*sin(pi*x)\"]\n"
    "[space]\ndegree = 2\n[problem]\nsource = \"1\"\n"
    "[solver]\npreconditioner = \"multigrid\"\n[output]\nvtk = false\npicture = false\n";
constexpr char kStudy[] =
    "[study]\nkernels = [\"tensor\"]\ndegrees = [2]\ndofs = [1000]\ngeometry = [\"mapped\"]\n"
    "repetitions = 3\napplications = 1\n";

class LaunchOption : public ::testing::Test {
 protected:
  LaunchOption() {
    std::ofstream(path() / "case.toml") << kCase;
    std::ofstream(path() / "study.toml") << kStudy;
  }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(LaunchOption, IsRefusedOnTheCpu) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"run", "case.toml", "--launches", "--output", "out"}, "--set run.device="},
      {{"run", "case.toml", "--launches", "--output", "out", "--set", "run.device=cpu"},
       "this run is on the CPU"},
      {{"compare", "study.toml", "--launches", "--csv", "rows.csv"}, "this study is on the CPU"}};
  for (const auto& [arguments, message] : refused) {
    const ProgramResult ran = run_program(path(), arguments);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.errors, HasSubstr("--launches"));
    EXPECT_THAT(ran.errors, HasSubstr(message));
    EXPECT_EQ(std::count(ran.errors.begin(), ran.errors.end(), '\n'), 1) << ran.errors;
    EXPECT_EQ(ran.output, "");
    EXPECT_FALSE(std::filesystem::exists(path() / "out"));
    EXPECT_FALSE(std::filesystem::exists(path() / "rows.csv"));
  }
}

TEST_F(LaunchOption, IsRefusedForANonLinearCase) {
  TESSERA_REQUIRE_DEVICE();
  const ProgramResult ran = run_program(
      path(), {"run", "case.toml", "--launches", "--output", "out", "--set", "run.device=cuda",
               "--set", "problem.coefficient=\"1 + u^2\"", "--set", "nonlinear.method=newton"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.errors, HasSubstr("--launches"));
  EXPECT_THAT(ran.errors, HasSubstr("linear case"));
  EXPECT_FALSE(std::filesystem::exists(path() / "out"));
}

TEST_F(LaunchOption, OfARunIsKept) {
  TESSERA_REQUIRE_DEVICE();
  const ProgramResult ran = run_program(
      path(), {"run", "case.toml", "--launches", "--output", "out", "--set", "run.device=cuda"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("\napply: "));
  EXPECT_THAT(ran.output, HasSubstr("\nmultigrid cycle: "));
  EXPECT_THAT(read_file(path() / "out/launches.csv"), HasSubstr("\nmultigrid cycle,"));
  const auto json = nlohmann::json::parse(read_file(path() / "out/result.json"));
  ASSERT_EQ(json["launches"].size(), 2U);
  for (const auto& report : json["launches"]) {
    ASSERT_FALSE(report["kernels"].empty());
    for (const auto& kernel : report["kernels"]) {
      EXPECT_GT(kernel["upper_s"].get<double>(), 0.0);
      EXPECT_GE(kernel["idle"].get<double>(), 0.0);
      EXPECT_LT(kernel["idle"].get<double>(), 1.0);
    }
  }
}

TEST_F(LaunchOption, OfAComparisonIsKept) {
  TESSERA_REQUIRE_DEVICE();
  const std::string on_gpu = "study.device=cuda";
  const ProgramResult operators = run_program(
      path(), {"compare", "study.toml", "--launches", "--csv", "rows.csv", "--set", on_gpu});
  EXPECT_EQ(operators.exit_code, 0) << operators.errors;
  EXPECT_THAT(read_file(path() / "rows_launches.csv"), HasSubstr(",apply,"));
  const ProgramResult solvers =
      run_program(path(), {"compare", "study.toml", "--launches", "--csv", "solvers.csv", "--set",
                           on_gpu, "--set", "study.solvers=[\"multigrid\"]"});
  EXPECT_EQ(solvers.exit_code, 0) << solvers.errors;
  EXPECT_THAT(read_file(path() / "solvers_launches.csv"), HasSubstr(",multigrid cycle,"));
}

}  // namespace
}  // namespace tessera::testing
