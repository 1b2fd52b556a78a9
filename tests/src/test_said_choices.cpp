// These tests read what the program says of choices that a case leaves open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/src/program_test.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(ProgramTest, AutoSaysWhichKernelRanAndWhy) {
  struct Choice {
    std::vector<std::string> settings;
    std::string line;
    std::string kernel;
    std::string scatter;
  };
  const std::vector<Choice> choices = {
      {{}, "kronecker (auto: axis-aligned mesh, constant coefficient)", "kronecker", "none"},
      {{"problem.coefficient=exp(x)*(1 + y^2)/(1 + z)"},
       "kronecker (auto: axis-aligned mesh, separable coefficient)",
       "kronecker",
       "none"},
      {{"problem.coefficient=1 + x*y"},
       "tensor/coloring (auto: the coefficient is no product of functions of one coordinate)",
       "tensor",
       "coloring"},
      {{"problem.reaction=1 + x"},
       "tensor/coloring (auto: the reaction varies)",
       "tensor",
       "coloring"},
      {{"mesh.map=[\"x\", \"y\", \"z\"]", "operator.scatter=private"},
       "tensor/private (auto: the mesh is mapped)",
       "tensor",
       "private"},
      {{"operator.kernel=kronecker"}, "kronecker, double", "kronecker", "none"}};
  for (const Choice& choice : choices) {
    const ProgramResult ran = run(with_settings({"--overwrite"}, choice.settings));
    ASSERT_EQ(ran.exit_code, 0) << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr("  operator  " + choice.line));
    EXPECT_EQ(result()["kernel"], choice.kernel);
    EXPECT_EQ(result()["scatter"], choice.scatter);
    EXPECT_THAT(read_file(path() / "out/case.toml"),
                HasSubstr("kernel = \"" + choice.kernel + "\"\nscatter = \"" + choice.scatter));
    const ProgramResult checked =
        run_program(path(), with_settings({"check", "case.toml"}, choice.settings));
    EXPECT_EQ(checked.exit_code, 0) << checked.errors;
    EXPECT_THAT(checked.output,
                HasSubstr("operator " + choice.line.substr(0, choice.line.find(','))));
  }
}

TEST_F(ProgramTest, WhatTheCaseLeavesOpenIsSaidAndRecorded) {
  write_file(path() / "case.toml",
             "[mesh]\ncells = [4, 3, 2]\nmap = [\"x\", \"y\", \"z + 0.1*x*y\"]\n[problem]\n"
             "source = \"1\"\n[output]\ndirectory = \"out\"\n");
  const ProgramResult checked = run_program(path(), {"check", "case.toml"});
  const ProgramResult ran = run();
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("\n  device    cpu (auto: "));
  EXPECT_THAT(checked.output, HasSubstr("\ndevice cpu (auto: "));
  EXPECT_THAT(ran.output,
              HasSubstr("\n  scatter   coloring (auto: the fastest measured on the CPU)\n"));
  EXPECT_THAT(checked.output,
              HasSubstr("\nscatter coloring (auto: the fastest measured on the CPU)\n"));
  const std::string preconditioner = "preconditioner multigrid (auto: the mesh is mapped)";
  EXPECT_THAT(ran.output, HasSubstr("cg, " + preconditioner + ", relative"));
  EXPECT_THAT(checked.output, HasSubstr("\n" + preconditioner + "\n"));
  std::vector<std::string> keys;
  const nlohmann::json choices = result()["choices"];
  for (const nlohmann::json& choice : choices) keys.push_back(choice["key"]);
  EXPECT_THAT(keys, ::testing::ElementsAre("run.device", "operator.kernel", "operator.scatter",
                                           "operator.factors", "solver.preconditioner"));
  EXPECT_EQ(choices[4]["value"], "multigrid");
  EXPECT_EQ(choices[4]["reason"], "the mesh is mapped");
  ASSERT_EQ(run_program(path(), {"run", "out/case.toml", "--output", "again"}).exit_code, 0);
  EXPECT_EQ(result("again")["choices"], nlohmann::json::array());
  EXPECT_EQ(result("again")["solution"], result()["solution"]);
}

TEST_F(ProgramTest, FactorsAreChosenSaidAndRecorded) {
  const std::string map = "mesh.map=[\"x\", \"y\", \"z + 0.1*x*y\"]";
  struct Choice {
    std::vector<std::string> settings;
    std::string line;      // empty: nothing is said
    std::string resolved;  // in case.toml
    std::string recorded;  // in result.json
  };
  const std::vector<Choice> choices = {
      {{map}, "compressed (auto: 3D on the CPU)", "compressed", "compressed"},
      {{map, "space.degree=1"}, "", "stored", "none"},
      {{map, "space.degree=1", "operator.kernel=tensor"},
       "compressed (auto: 3D on the CPU)",
       "compressed",
       "compressed"},
      {{map, "operator.factors=on-the-fly", "problem.coefficient=1 + x"},
       "on-the-fly\n",
       "on-the-fly",
       "on-the-fly"},
      {{map, "space.points=6"},
       "stored (auto: no unrolled kernel of this size)",
       "stored",
       "stored"},
      {{map, "operator.kernel=csr"}, "", "stored", "none"},
      {{"operator.kernel=tensor"}, "", "stored", "none"}};
  for (const Choice& choice : choices) {
    const ProgramResult ran = run(with_settings({"--overwrite"}, choice.settings));
    ASSERT_EQ(ran.exit_code, 0) << ran.errors;
    const ProgramResult checked =
        run_program(path(), with_settings({"check", "case.toml"}, choice.settings));
    ASSERT_EQ(checked.exit_code, 0) << checked.errors;
    if (choice.line.empty()) {
      EXPECT_THAT(ran.output, ::testing::Not(HasSubstr("\n  factors ")));
      EXPECT_THAT(checked.output, ::testing::Not(HasSubstr("\nfactors ")));
    } else {
      EXPECT_THAT(ran.output, HasSubstr("\n  factors   " + choice.line));
      EXPECT_THAT(checked.output, HasSubstr("\nfactors " + choice.line));
      const std::string name = "tensor/coloring";
      EXPECT_THAT(checked.output, HasSubstr("\noperator " + name));
      EXPECT_THAT(checked.output, HasSubstr("  operator " + name + ", " + choice.recorded + " "));
      EXPECT_THAT(ran.output, HasSubstr("\n  operator  " + name));
      EXPECT_EQ(result()["scatter"], "coloring");
    }
    EXPECT_EQ(result()["geometry"], choice.recorded);
    EXPECT_THAT(read_file(path() / "out/case.toml"),
                HasSubstr("factors = \"" + choice.resolved + "\"\n"));
  }
}

// What the file of a run says of the factors was for its kernel, degree and mesh.
TEST_F(ProgramTest, FactorsOfAResolvedCaseGiveWayToTheCommandLine) {
  ASSERT_EQ(run({"--set", "mesh.map=[\"x\", \"y\", \"z + 0.1*x*y\"]", "--set",
                 "operator.factors=on-the-fly"})
                .exit_code,
            0);
  ASSERT_EQ(result()["geometry"], "on-the-fly");
  const std::vector<std::pair<std::vector<std::string>, std::string>> changes = {
      {{"space.points=6"}, "stored"},
      {{"operator.kernel=csr"}, "none"},
      {{"run.threads=1"}, "on-the-fly"}};
  for (const auto& [settings, geometry] : changes) {
    const ProgramResult ran = run_program(
        path(),
        with_settings({"run", "out/case.toml", "--output", "again", "--overwrite"}, settings));
    ASSERT_EQ(ran.exit_code, 0) << ran.errors;
    EXPECT_EQ(result("again")["geometry"], geometry) << settings.front();
  }
}

}  // namespace
}  // namespace tessera::testing
