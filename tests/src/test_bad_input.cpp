// These tests run the program on bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operators/cells/cell_kernel_limits.hpp"
#include "tests/device_test.hpp"
#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kGoodCase[] =
    "[mesh]\ncells = [3, 2, 2]\n[problem]\nsource = \"1\"\n[output]\ndirectory = \"out\"\n";

class BadInput : public ::testing::Test {
 protected:
  ProgramResult run_case(const std::string& text, std::vector<std::string> more = {}) {
    write_file(path() / "case.toml", text);
    std::vector<std::string> arguments = {"run", "case.toml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(path(), arguments);
  }
  ProgramResult run_with(const std::string& assignment) {
    return run_case(kGoodCase, {"--set", assignment});
  }
  const std::filesystem::path& path() const { return directory_.path(); }
  bool has_output() const { return std::filesystem::exists(path() / "out"); }

  /// One line that starts and goes on so, exit code 1, nothing on the other stream or on disk.
  void expect_one_line(const ProgramResult& result, const std::string& start,
                       const std::string& part) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, StartsWith(start));
    EXPECT_THAT(result.errors, HasSubstr(part));
    EXPECT_THAT(result.errors, EndsWith("\n"));
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    EXPECT_FALSE(has_output());
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(BadInput, TheGoodCaseIsGood) {
  const ProgramResult result = run_case(kGoodCase);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_TRUE(has_output());
}

TEST_F(BadInput, MissingFile) {
  expect_one_line(run_program(path(), {"run", "nothing.toml"}), "nothing.toml: ", "No such file");
}

TEST_F(BadInput, SyntaxError) {
  expect_one_line(run_case("[mesh]\ncells = [3, 2\n"), "case.toml:", "");
}

TEST_F(BadInput, UnknownKeySuggestsTheNearest) {
  expect_one_line(run_case("[mesh]\ncells = [3, 2, 2]\n[space]\ndegre = 3\n"),
                  "case.toml:4: space.degre = 3: ", "degree");
}

TEST_F(BadInput, WrongType) {
  expect_one_line(run_case("[mesh]\ncells = \"many\"\n"),
                  "case.toml:2: mesh.cells = \"many\": ", "integer");
}

TEST_F(BadInput, NoCells) {
  expect_one_line(run_case("[mesh]\ncells = [3, 0, 2]\n"), "case.toml:2: mesh.cells", "1");
}

// What is chosen by alpha waits for one that can be read.
TEST_F(BadInput, AlphaOfARobinFace) {
  const std::string case_text(kGoodCase);
  const std::string solver = "[solver]\npreconditioner = \"none\"\n";
  for (const std::string device : {"cpu", "auto"}) {
    const std::vector<std::string> more = {"--set", "run.device=" + device};
    expect_one_line(
        run_case(case_text + solver + "[boundary]\nleft = { type = \"robin\" }\n", more),
        "case.toml:10: boundary.left.alpha: ", "is required, and missing");
    expect_one_line(
        run_case(case_text + solver + "[boundary]\nleft = { type = \"robin\", alpha = \"1 +\" }\n",
                 more),
        "case.toml:10: boundary.left.alpha = \"1 +\": ", "ends too early");
  }
}

TEST_F(BadInput, DegreeZero) {
  expect_one_line(run_with("space.degree=0"), "--set space.degree=0: space.degree = 0: ", "1");
}

TEST_F(BadInput, NegativeExtent) {
  expect_one_line(run_with("mesh.upper=[1.0, -1.0, 1.0]"), "--set mesh.upper=", "greater than");
}

TEST_F(BadInput, GridLinesThatDoNotFit) {
  expect_one_line(run_with("mesh.spacing=[{geometric=-1}, \"uniform\", \"uniform\"]"),
                  "--set mesh.spacing=", "geometric must be a number greater than 0");
  expect_one_line(run_with("mesh.spacing=[[0, 0.5, 1], \"uniform\", \"uniform\"]"),
                  "--set mesh.spacing=", "make 2 cells, and mesh.cells has 3");
}

TEST_F(BadInput, UnparsableExpression) {
  expect_one_line(run_with("problem.source=\"3*sin(x\""),
                  "--set problem.source=\"3*sin(x\": problem.source = \"3*sin(x\": ", "");
}

TEST_F(BadInput, UnknownNameInExpression) {
  expect_one_line(run_with("problem.source=\"sinn(x)\""), "--set problem.source=", "sin");
}

TEST_F(BadInput, ZInTwoDimensions) {
  expect_one_line(run_case("[mesh]\ndimension = 2\ncells = [3, 2]\n[problem]\nsource = \"z\"\n"),
                  "case.toml:5: problem.source = \"z\": ", "z");
}

TEST_F(BadInput, ExpressionThatIsNanNamesWhere) {
  expect_one_line(run_with("problem.source=\"sqrt(x - 0.5)\""),
                  "--set problem.source=\"sqrt(x - 0.5)\": problem.source", "nan at (0.");
}

TEST_F(BadInput, BoundaryValueThatIsInfinite) {
  expect_one_line(run_with("boundary.left.value=\"1/x\""),
                  "--set boundary.left.value=", "inf at (0, ");
}

TEST_F(BadInput, ExactThatIsNanIsFoundBeforeTheSolve) {
  expect_one_line(run_with("problem.exact=\"ln(x - 2)\""), "--set problem.exact=", "nan at (");
}

TEST_F(BadInput, CoefficientThatIsNotPositiveNamesWhere) {
  expect_one_line(run_with("problem.coefficient=\"x - 0.5\""),
                  "--set problem.coefficient=\"x - 0.5\": problem.coefficient", " at (0.");
  expect_one_line(run_with("problem.coefficient=-1"), "--set problem.coefficient=-1",
                  "must be positive");
}

TEST_F(BadInput, FoldedMapNamesTheFirstCell) {
  // dx/dxi = 1 - 2 x is negative beyond x = 0.5: first in cell 1 of 3.
  expect_one_line(run_with("mesh.map=[\"x - x^2\", \"y\", \"z\"]"),
                  "--set mesh.map=", "cell (1, 0, 0) has Jacobian determinant");
}

TEST_F(BadInput, KroneckerIsNotForEveryMeshAndCoefficient) {
  const std::string kronecker = std::string(kGoodCase) + "[operator]\nkernel = \"kronecker\"\n";
  const std::string start =
      "case.toml:8: operator.kernel = \"kronecker\": the kernel kronecker needs ";
  for (const auto& [setting, reason] :
       {std::pair{"mesh.map=[\"x\", \"y\", \"z\"]",
                  "an axis-aligned mesh, and this one is mapped; allowed: \"auto\", \"csr\", "
                  "\"local\", \"tensor\"\n"},
        std::pair{"problem.coefficient=1 + x*y",
                  "a coefficient that is constant or a product of factors that depend on one "
                  "coordinate each; "
                  "allowed: \"auto\", \"csr\", \"local\", \"tensor\"\n"}}) {
    expect_one_line(run_case(kronecker, {"--set", setting}), start, reason);
  }
  // A faulty coefficient is one fault, not two.
  expect_one_line(run_case(kronecker, {"--set", "problem.coefficient=1 + "}),
                  "--set problem.coefficient=", "ends too early");
}

TEST_F(BadInput, FactorsThatTheCaseCannotHave) {
  struct Refusal {
    std::string factors;
    std::vector<std::string> settings;
    std::string reason;
  };
  const std::string tensor = "operator.kernel=tensor";
  const std::string map = "mesh.map=[\"x\", \"y\", \"z + 0.1*x*y\"]";
  const std::string graded = "mesh.spacing=[{geometric=1.5}, \"uniform\", \"uniform\"]";
  const std::vector<Refusal> refusals = {
      {"compressed",
       {"mesh.dimension=2", "mesh.cells=[3, 3]", "mesh.upper=[1, 1]",
        "mesh.map=[\"x\", \"y + x*y\"]"},
       "compressed is for 3D: 2D has stored and on-the-fly; allowed: \"auto\", \"stored\", "
       "\"on-the-fly\""},
      {"on-the-fly",
       {map, "space.degree=3", "space.points=6"},
       "on-the-fly is for degrees 1 to " + std::to_string(kMaxFastDegree) +
           " with degree + 1 or degree + 2 points, not for degree 3 "
           "with 6 points; allowed: \"auto\", \"stored\""},
      {"on-the-fly",
       {map, "space.degree=9"},
       "not for degree 9 with 10 points; allowed: \"auto\", \"stored\""},
      {"on-the-fly",
       {tensor, graded},
       "on-the-fly is for mapped meshes: a graded one stores no positions of nodes; allowed: "
       "\"auto\", \"stored\""},
      {"on-the-fly",
       {tensor},
       "on-the-fly is for mapped meshes: equal cells share their factors; allowed: "
       "\"auto\", \"stored\""},
      {"on-the-fly",
       {map, "operator.kernel=csr"},
       "on-the-fly is for the kernel tensor, and the kernel is csr; allowed: \"auto\", \"stored\""},
      {"on-the-fly",
       {},
       "on-the-fly is for the kernel tensor, and the kernel is kronecker (auto: axis-aligned mesh, "
       "constant coefficient); allowed: \"auto\", \"stored\""}};
  for (const Refusal& refusal : refusals) {
    const std::string factors = "operator.factors=" + refusal.factors;
    std::vector<std::string> settings = refusal.settings;
    settings.push_back(factors);
    expect_one_line(
        run_case(kGoodCase, with_settings({}, settings)),
        "--set " + factors + ": operator.factors = \"" + refusal.factors + "\": ", refusal.reason);
  }
}

TEST_F(BadInput, CoefficientsThatAreProductsNameWhereTheyAreNotPositive) {
  expect_one_line(run_with("problem.coefficient=(1 + x)*(y - 0.5)"),
                  "--set problem.coefficient=(1 + x)*(y - 0.5): problem.coefficient",
                  "it must be positive");
  expect_one_line(run_with("problem.coefficient=(1 + x)*(y - 2)"),
                  "--set problem.coefficient=(1 + x)*(y - 2): problem.coefficient",
                  "it must be positive");
}

TEST_F(BadInput, StrategyThatDoesNotExist) {
  expect_one_line(run_with("operator.kernel=tensr"), "--set operator.kernel=tensr", "tensor");
  expect_one_line(run_with("operator.scatter=colouring"), "--set operator.scatter=colouring",
                  "coloring");
}

TEST_F(BadInput, SolversThatDoNotExistOrDoNotFit) {
  expect_one_line(run_with("solver.preconditioner=multigird"),
                  "--set solver.preconditioner=multigird: solver.preconditioner = \"multigird\": ",
                  "did you mean \"multigrid\"?");
  expect_one_line(
      run_case(kGoodCase,
               {"--set", "solver.method=richardson", "--set", "solver.preconditioner=none"}),
      "--set solver.method=richardson: solver.method = \"richardson\": ", "needs a preconditioner");
  expect_one_line(run_with("solver.preconditioner=block-asynchronous-jacobi"),
                  "--set solver.preconditioner=block-asynchronous-jacobi: solver.method = \"cg\" "
                  "(the default): ",
                  "must be \"flexible-cg\", \"flexible-gmres\" or \"richardson\"");
  expect_one_line(run_case(kGoodCase, {"--set", "solver.initial=full-multigrid", "--set",
                                       "solver.preconditioner=jacobi"}),
                  "--set solver.initial=full-multigrid: solver.initial = \"full-multigrid\": ",
                  "needs solver.preconditioner = \"multigrid\"");
  expect_one_line(
      run_with("solver.multigrid.smoother_degree=0"),
      "--set solver.multigrid.smoother_degree=0: solver.multigrid.smoother_degree = 0: ",
      "from 1 to ");
}

TEST_F(BadInput, WhatIsNotDeterministicThoughTheCaseHasToBe) {
  expect_one_line(
      run_case(kGoodCase, {"--set", "run.deterministic=true", "--set", "operator.scatter=atomic"}),
      "--set operator.scatter=atomic: operator.scatter = \"atomic\": ",
      "adds in another order in every run, and run.deterministic = true; allowed: "
      "\"auto\", \"serial\", \"coloring\", \"private\"");
}

TEST_F(BadInput, NoGpuInThisBuildOrOnThisMachine) {
  const ProgramResult result = run_with("run.device=cuda");
  if constexpr (!kHasCuda) {
    expect_one_line(result, "--set run.device=cuda", "CPU");
    return;
  }
  if (::tessera::testing::why_no_device().empty()) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors,
              HasSubstr("--set run.device=cuda: run.device = \"cuda\": no GPU can be used: "));
  EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
  EXPECT_FALSE(has_output());
}

TEST_F(BadInput, StrategiesOfTheOtherProcessor) {
  expect_one_line(run_with("operator.scatter=patch"), "--set operator.scatter", "on the CPU");
  expect_one_line(run_with("operator.kernel=local-thread"), "--set operator.kernel", "on the CPU");
  expect_one_line(run_with("operator.scatter=unprotected"), "--set operator.scatter",
                  "compare only");
}

TEST_F(BadInput, AllErrorsOfAFileAtOnce) {
  const ProgramResult result =
      run_case("[mesh]\ncells = [0, 1, 1]\n[space]\ndegree = 0\n[problem]\nsource = \"q\"\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("case.toml:2: mesh.cells"));
  EXPECT_THAT(result.errors, HasSubstr("case.toml:4: space.degree"));
  EXPECT_THAT(result.errors, HasSubstr("case.toml:6: problem.source"));
}

TEST_F(BadInput, NeumannDataThatDoNotBalance) {
  std::string text = kGoodCase;
  text += "[boundary]\n";
  for (const char* face : {"left", "right", "bottom", "top", "back", "front"}) {
    text += std::string(face) + " = { type = \"neumann\" }\n";
  }
  expect_one_line(run_case(text),
                  "case.toml:4: problem.source = \"1\": ", "integral of the source is 1");
}

TEST_F(BadInput, OutputDirectoryThatCannotBeMade) {
  write_file(path() / "file", "in the way");
  const ProgramResult result = run_with("output.directory=file/below");
  expect_one_line(result, "--set output.directory=file/below: output.directory", "file/below");
}

TEST_F(BadInput, ResultsAreNotOverwrittenUnasked) {
  ASSERT_EQ(run_case(kGoodCase).exit_code, 0);
  const std::string before = read_file(path() / "out/result.json");
  const ProgramResult refused = run_with("space.degree=3");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("--overwrite"));
  EXPECT_EQ(read_file(path() / "out/result.json"), before);
  EXPECT_EQ(run_case(kGoodCase, {"--overwrite", "--set", "space.degree=3"}).exit_code, 0);
  EXPECT_EQ(read_json(path() / "out/result.json")["degree"], 3);
}

TEST_F(BadInput, MoreMemoryThanTheMachineHas) {
  const ProgramResult result = run_with("mesh.cells=[4000, 4000, 4000]");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, StartsWith("tessera: not enough memory: "));
  EXPECT_THAT(result.errors, HasSubstr("TiB"));
  EXPECT_FALSE(has_output());
  const ProgramResult checked =
      run_program(path(), {"check", "case.toml", "--set", "mesh.cells=[4000, 4000, 4000]"});
  EXPECT_EQ(checked.exit_code, 3);
  EXPECT_THAT(checked.output, HasSubstr("tensor/coloring"));
}

TEST_F(BadInput, FullDiskLeavesNoHalfWrittenFile) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a file system";
  const std::filesystem::path out = disk.directory().path() / "out";
  const ProgramResult result =
      run_case(kGoodCase, {"--output", out.string(), "--set", "mesh.cells=[12, 12, 12]"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("solution.vtu"));
  EXPECT_THAT(result.errors, HasSubstr("No space left on device"));
  EXPECT_TRUE(std::filesystem::exists(out / "result.json"));
  EXPECT_FALSE(std::filesystem::exists(out / "solution.vtu"));
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("solution"))) << entry.path();
  }
}

TEST_F(BadInput, UsageErrors) {
  EXPECT_EQ(run_program(path(), {}).exit_code, 1);
  EXPECT_EQ(run_program(path(), {"rnu", "case.toml"}).exit_code, 1);
  EXPECT_EQ(run_program(path(), {"run", "case.toml", "--sett", "a=b"}).exit_code, 1);
}

}  // namespace
}  // namespace tessera::testing
