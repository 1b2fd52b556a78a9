// These tests run tessera compare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/src/program_test.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

class CompareTest : public ProgramTest {
 protected:
  ProgramResult compare(std::vector<std::string> more = {}) {
    write_file(path() / "study.toml",
               "[study]\ndegrees = [1, 3]\ndimensions = [2, 3]\ndofs = [2000]\n"
               "geometry = [\"uniform\", \"mapped\"]\nscatters = [\"serial\", \"coloring\"]\n"
               "applications = 2\nrepetitions = 3\noutput = \"study.csv\"\n");
    more.insert(more.begin(), {"compare", "study.toml"});
    return run_program(path(), more);
  }
};

TEST_F(CompareTest, AllStrategiesAgree) {
  const ProgramResult ran = compare();
  EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
  const std::string csv = read_rows(path() / "study.csv");
  // A header, and for 2 dimensions x 2 geometries x 2 degrees csr, 2 x (local, tensor), stencil and
  // kronecker.
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 8 * 7);
  EXPECT_THAT(csv, ::testing::Not(HasSubstr("disagrees")));
  EXPECT_THAT(ran.output, HasSubstr(" left out: the kernel kronecker needs an "
                                    "axis-aligned mesh, and this one is mapped"));
  std::size_t unsuitable = 0;
  for (std::size_t at = csv.find(",unsuitable,"); at != std::string::npos;
       at = csv.find(",unsuitable,", at + 1)) {
    ++unsuitable;
  }
  EXPECT_EQ(unsuitable, 8U);
  EXPECT_THAT(csv, HasSubstr(",outcome,peak_gflops,peak_gflops_single,cache_gbytes_per_s,"
                             "limit_share,limit,ranks,rank_grid,dofs_per_rank,model_s\n"));
  EXPECT_THAT(csv, ::testing::ContainsRegex(",agrees,[0-9.e+]+,[0-9.e+]+,[0-9.e+]+,[0-9.e-]+,"
                                            "(copy|L1|L2|L3|fma),1,1,,[0-9.e-]+\n"));
}

TEST_F(CompareTest, StoragesOfFactorsStandSideBySide) {
  const ProgramResult ran =
      compare({"--set", "study.factors=[\"stored\", \"on-the-fly\", \"auto\"]"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
  const std::string csv = read_rows(path() / "study.csv");
  // On 4 uniform problems as before; on 4 mapped ones each storage, and auto is one of them in 2D.
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'),
            1 + 4 * 7 + 2 * (5 + 2 * 2) + 2 * (5 + 2 * 3));
  for (const char* form : {"stored", "compressed", "on-the-fly"}) {
    EXPECT_THAT(csv, HasSubstr(std::string(",tensor,serial,") + form + ","));
    EXPECT_THAT(ran.output, HasSubstr(std::string("  tensor/coloring, ") + form + " "));
  }
  EXPECT_THAT(csv, HasSubstr(",stencil,none,none,"));
  EXPECT_THAT(ran.output, HasSubstr("  stencil "));
  EXPECT_THAT(csv, HasSubstr(",tensor,serial,none,"));
  EXPECT_THAT(ran.output,
              HasSubstr(" left out: the kernel stencil is for degree 1, not for degree 3\n"));
}

TEST_F(CompareTest, DisagreementFails) {
  const ProgramResult ran = compare({"--set", "study.agree_tolerance=1e-18"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.output, HasSubstr("NO: "));
}

TEST_F(CompareTest, SolvesAreForScattersThatAddRightly) {
  const auto solve = [&](const std::string& scatters, const std::string& geometry) {
    return compare({"--set", "study.solvers=[\"jacobi\"]", "--set", "study.scatters=" + scatters,
                    "--set", "study.geometry=" + geometry});
  };
  for (const char* scatter : {"unprotected", "patch"}) {
    const ProgramResult ran =
        solve(std::string("[\"") + scatter + "\", \"serial\"]", "[\"uniform\", \"mapped\"]");
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.errors,
                ::testing::StartsWith("--set study.scatters=[\"" + std::string(scatter)));
    EXPECT_THAT(ran.errors, HasSubstr("put \"auto\" first\n"));
    EXPECT_THAT(ran.output, ::testing::IsEmpty()) << "it did not begin";
  }
  EXPECT_EQ(solve("[\"serial\", \"unprotected\"]", "[\"mapped\"]").exit_code, 0);
  // On equal cells nothing is scattered.
  EXPECT_EQ(solve("[\"unprotected\"]", "[\"uniform\"]").exit_code, 0);
}

TEST_F(CompareTest, AppendsToRowsThatWereNotAppended) {
  const std::vector<std::string> few = {"--set", "study.dimensions=[2]",
                                        "--set", "study.degrees=[1]",
                                        "--set", "study.kernels=[\"csr\"]"};
  ASSERT_EQ(compare(few).exit_code, 0);
  const std::string rows = read_rows(path() / "study.csv");
  std::vector<std::string> appending = few;
  appending.insert(appending.end(), {"--set", "study.append=true"});
  const ProgramResult ran = compare(appending);
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  const std::string now = read_rows(path() / "study.csv");
  EXPECT_EQ(std::count(now.begin(), now.end(), '\n'), std::count(rows.begin(), rows.end(), '\n'));
  appending.insert(appending.end(), {"--set", "study.repetitions=2"});
  const ProgramResult other = compare(appending);
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.errors, HasSubstr("study.output = \"study.csv\": study.csv: its rows are of "
                                      "another study (\"repetitions = 3\", here"));
}

TEST_F(CompareTest, RefusesWhatItCannotMeasure) {
  const ProgramResult kernel = compare({"--set", "study.kernels=[\"tensor\", \"csr-single\"]"});
  EXPECT_EQ(kernel.exit_code, 1);
  EXPECT_THAT(kernel.errors, HasSubstr("\"csr-single\" does not run on the CPU"));
  const ProgramResult scatter = compare({"--set", "study.scatters=[\"unprotected\"]"});
  EXPECT_EQ(scatter.exit_code, 1);
  EXPECT_THAT(scatter.errors, HasSubstr("has none for the CPU (study.device = \"cpu\"), and "
                                        "\"local\" needs one"));
  write_file(path() / "rates.csv", "# Tessera 1\n# command: tessera convergence a.toml\nh\n1\n");
  const ProgramResult table = compare({"--csv", "rates.csv"});
  EXPECT_EQ(table.exit_code, 1);
  EXPECT_THAT(table.errors, HasSubstr("it is a table, but none of `tessera compare`"));
  const ProgramResult tolerance =
      compare({"--set", "study.precision=[\"single\"]", "--set", "study.solvers=[\"jacobi\"]"});
  EXPECT_EQ(tolerance.exit_code, 1);
  EXPECT_THAT(tolerance.errors, HasSubstr("solver.relative_tolerance: is 1e-09, and must be at "
                                          "least 1e-06"));
}

TEST_F(CompareTest, NamesPoliciesThatTheDeviceLacks) {
  const ProgramResult ran =
      compare({"--set", "study.scatters=[\"patch\", \"coloring\"]", "--set", "study.degrees=[1]",
               "--set", "study.dimensions=[2]", "--set", "study.kernels=[\"local\"]"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("note: the CPU has no scatter policy \"patch\": no rows\n"));
}

TEST_F(CompareTest, ProblemsThatDoNotFitHaveRows) {
  const ProgramResult ran = compare({"--set", "study.memory_limit=1", "-q"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.errors,
            "tessera: nothing was measured: all of study.toml was left out; study.csv says why\n");
  const std::string csv = read_rows(path() / "study.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 8 * 7);
  EXPECT_THAT(csv, HasSubstr("2,uniform,1,2,"));
  EXPECT_THAT(csv, HasSubstr(",csr,none,none,,,,,,,,,,,,,,,does not fit,"));
  const ProgramResult solved = compare(
      {"--set", "study.memory_limit=1", "-q", "--set", "study.solvers=[\"jacobi\", \"none\"]"});
  EXPECT_EQ(solved.exit_code, 2);
  EXPECT_THAT(solved.errors, HasSubstr("nothing was measured"));
  const std::string solves = read_rows(path() / "study.csv");
  EXPECT_EQ(std::count(solves.begin(), solves.end(), '\n'), 1 + 8 * 2);
  EXPECT_THAT(solves, HasSubstr(",\"left out: does not fit: needs "));
}

TEST_F(CompareTest, WhatDoesNotFitIsLeftOutAndSaidSo) {
  const ProgramResult ran =
      compare({"--set", "study.memory_limit=38000000", "--set", "study.degrees=[8]"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("does not fit: needs"));
  EXPECT_THAT(read_file(path() / "study.csv"), HasSubstr("does not fit"));
}

TEST_F(CompareTest, TheFileWithEveryDefaultIsTaken) {
  write_file(path() / "study.toml", run_program(path(), {"defaults", "--study"}).output);
  const ProgramResult ran =
      compare({"--set", "study.dofs=[100]", "--set", "study.degrees=[2]", "-q"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
}

}  // namespace
}  // namespace tessera::testing
