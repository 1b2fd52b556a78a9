// These tests run tessera check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/src/program_test.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ProgramTest, CheckListsEachStorageOfFactors) {
  const ProgramResult ran =
      run_program(path(), {"check", "case.toml", "--set",
                           "mesh.map=[\"x\", \"y\", \"z + 0.1*x*y\"]", "--set", "space.degree=1"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  // 5 x 4 x 3 nodes and 24 cells: 14 values a node; 6 at each of 8 points a cell, in batches that
  // lanes and threads may fill up.
  for (const char* row : {"tensor/atomic, stored ", "tensor/atomic, compressed ",
                          "tensor/atomic, on-the-fly ", "stencil ", " 10.5 KiB ", " 179.2 B "}) {
    EXPECT_THAT(ran.output, HasSubstr(row));
  }
  EXPECT_THAT(ran.output, Not(HasSubstr("csr, ")));
}

TEST_F(ProgramTest, CheckTellsSizesAndMemory) {
  const ProgramResult ran = run_program(path(), {"check", "case.toml"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("910 DoFs"));
  for (const char* strategy : {"csr", "local/atomic", "tensor/private", "operator kronecker"}) {
    EXPECT_THAT(ran.output, HasSubstr(strategy));
  }
  EXPECT_FALSE(std::filesystem::exists(path() / "out"));
}

TEST_F(ProgramTest, CheckTellsOfResultsThatARunWouldHaveToReplace) {
  const std::string note =
      "note: out holds results: a run needs another directory, or --overwrite\n";
  EXPECT_THAT(run_program(path(), {"check", "case.toml"}).output, Not(HasSubstr(note)));
  ASSERT_EQ(run_program(path(), {"run", "case.toml", "--quiet"}).exit_code, 0);
  const ProgramResult ran = run_program(path(), {"check", "case.toml"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr(note));
  EXPECT_THAT(run_program(path(), {"check", "case.toml", "--set", "output.overwrite=true"}).output,
              Not(HasSubstr(note)));
}

TEST_F(ProgramTest, CheckTellsOfSeveralProcesses) {
  const ProgramResult ran =
      run_program(path(), {"check", "case.toml", "-n", "3", "--set", "mesh.cells=[6, 6, 6]",
                           "--set", "run.ranks=[3, 1, 1]"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  for (const char* text :
       {"\n3 processes as 3 x 1 x 1\n", "\nlargest part 2 x 6 x 6 cells, 2527 DoFs\n",
        "\nsmallest part 2 x 6 x 6 cells, 2527 DoFs\n", "\nforeseen: parallel efficiency ",
        " 80.0 % from about ", "messages to other ranks", "largest at a time of a process "}) {
    EXPECT_THAT(ran.output, HasSubstr(text));
  }
  EXPECT_THAT(ran.output, HasSubstr("no error\n"));
  const ProgramResult chosen =
      run_program(path(), {"check", "case.toml", "-n", "2", "--set", "mesh.cells=[6, 6, 6]"});
  EXPECT_EQ(chosen.exit_code, 0) << chosen.errors;
  EXPECT_THAT(chosen.output, HasSubstr("\n2 processes as 1 x 1 x 2 (auto: "));
  EXPECT_THAT(chosen.output, HasSubstr("fast-diagonalization (auto"));
}

TEST_F(ProgramTest, CheckRefusesProcessesThatTheCaseIsNotFor) {
  const ProgramResult many = run_program(path(), {"check", "case.toml", "-n", "9973"});
  EXPECT_EQ(many.exit_code, 1);
  EXPECT_THAT(many.errors, HasSubstr(": mesh.cells = "));
  EXPECT_THAT(many.errors, HasSubstr(": 9973 processes cannot share "));
  const ProgramResult other =
      run_program(path(), {"check", "case.toml", "-n", "4", "--set", "run.ranks=[1, 1, 2]"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_EQ(other.errors,
            "--set run.ranks=[1, 1, 2]: run.ranks = [1, 1, 2]: a grid of 1 x 1 x 2 ranks is for 2 "
            "processes, not for 4\n");
}

TEST_F(ProgramTest, CheckTellsLevelsAndTheirMemory) {
  const ProgramResult ran =
      run_program(path(), {"check", "case.toml", "--set", "mesh.cells=[8, 6, 8]", "--set",
                           "solver.preconditioner=multigrid", "--set",
                           "solver.multigrid.coarsening=degree-first"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output,
              ::testing::ContainsRegex("\nlevel +degree +cells +DoFs +operator +memory"));
  // (3 x 8 + 1)^2 (3 x 6 + 1) DoFs, then degree 1: 9 x 9 x 7, and 5 x 5 x 4, whose inverse has
  // 100^2 values of 4 B.
  EXPECT_THAT(ran.output, ::testing::ContainsRegex("\n +0 +3 +8 x 6 x 8 +11\\.9 k +kronecker +"));
  EXPECT_THAT(ran.output, ::testing::ContainsRegex("\n +1 +1 +8 x 6 x 8 +567 +kronecker +"));
  EXPECT_THAT(ran.output, ::testing::ContainsRegex(
                              "\n +2 +1 +4 x 3 x 4 +100 +kronecker +[67][0-9]\\.[0-9] KiB"));
  EXPECT_THAT(ran.output, ::testing::Not(::testing::ContainsRegex("\n +3 +1 ")));
  EXPECT_THAT(ran.output, ::testing::ContainsRegex("\n +all +"));
  EXPECT_THAT(ran.output, ::testing::ContainsRegex("\n +preconditioner +[0-9.]+ [KM]iB"));
}

TEST_F(ProgramTest, CheckTellsWhichStrategiesAreNotForTheCase) {
  const ProgramResult ran =
      run_program(path(), {"check", "case.toml", "--set", "problem.coefficient=1 + x*y"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output,
              ::testing::ContainsRegex(
                  "\nkronecker +- +- +- +- +no: the kernel kronecker needs a coefficient"));
}

}  // namespace
}  // namespace tessera::testing
