// These tests run the command convergence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kCase[] =
    "title = \"waves, 2D\"\n[mesh]\ndimension = 2\ncells = [8, 4]\n[space]\ndegree = 2\n"
    "[problem]\nsource = \"2*pi^2*sin(pi*x)*sin(pi*y)\"\nexact = \"sin(pi*x)*sin(pi*y)\"\n";

class Convergence : public ::testing::Test {
 protected:
  void SetUp() override { write_file(path() / "case.toml", kCase); }
  ProgramResult run(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"convergence", "case.toml"});
    return run_program(path(), more);
  }
  // The lines of the table that are no comments.
  std::vector<std::string> table() const {
    std::istringstream in(read_file(path() / "rates.csv"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with('#')) lines.push_back(line);
    }
    return lines;
  }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(Convergence, FindsTheExpectedRates) {
  const ProgramResult ran = run({"--csv", "rates.csv"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(ran.errors, "");
  for (const char* text :
       {"degree 1: expected rates 2 in L2, 1 in H1", "degree 3: expected rates 4 in L2, 3 in H1",
        "as expected", "rather than the case's 1e-08"}) {
    EXPECT_THAT(ran.output, HasSubstr(text));
  }
  const std::vector<std::string> lines = table();
  ASSERT_EQ(lines.size(), 1U + 3 * 4);
  EXPECT_EQ(lines[0],
            "case,dimension,degree,cells,dofs,h,l2,h1,max,rate_l2,rate_h1,rate_max,note,iterations,"
            "setup_s,solve_s");
  EXPECT_THAT(lines[1], StartsWith("\"waves, 2D\",2,1,2x1,6,0.707107,"));
  EXPECT_THAT(lines[12], StartsWith("\"waves, 2D\",2,3,16x8,1225,0.0883883,"));
  EXPECT_THAT(read_file(path() / "rates.csv"),
              HasSubstr("# command: tessera convergence case.toml\n"));
}

TEST_F(Convergence, SaysWhereRoundingTakesOver) {
  const ProgramResult ran = run({"--degrees", "8,10", "--levels", "5", "--csv", "rates.csv"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("as expected, until rounding takes over"));
  EXPECT_THAT(read_file(path() / "rates.csv"), HasSubstr(",rounding in l2"));
  EXPECT_THAT(read_file(path() / "rates.csv"), HasSubstr("--degrees 8,10 --levels 5\n"));
}

TEST_F(Convergence, OfAPolynomialIsAllRounding) {
  const ProgramResult ran = run({"--set", "problem.exact=x*(1-x)*y*(1-y)", "--set",
                                 "problem.source=2*x*(1-x)+2*y*(1-y)", "--degrees", "2,3"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("rounding has taken over from the start"));
}

TEST_F(Convergence, InSinglePrecisionKnowsItsRounding) {
  const ProgramResult ran = run({"--set", "operator.precision=single", "--set",
                                 "solver.relative_tolerance=1e-6", "--levels", "6"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
}

TEST_F(Convergence, OfAWrongSolutionFails) {
  const ProgramResult ran = run({"--set", "problem.exact=sin(pi*x)*sin(pi*y) + 1e-3*x", "--quiet"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.output, "");
  EXPECT_EQ(ran.errors, "tessera: the observed rate is not the expected one for degree 2, 3\n");
  EXPECT_THAT(run({"--set", "problem.exact=sin(pi*x)*sin(pi*y) + 1e-3*x"}).output,
              HasSubstr("NOT the expected 4 in L2 and 3 in H1"));
}

TEST_F(Convergence, OfAWrongSolutionThatTheCoarsestMeshHasFails) {
  // The only cell of the first mesh has no free node.
  write_file(path() / "case.toml",
             "[mesh]\ndimension = 2\ncells = [8, 8]\n[space]\ndegree = 1\n"
             "[problem]\nexact = \"x*y\"\nsource = \"10\"\n"
             "[boundary]\nright = { value = \"y\" }\ntop = { value = \"x\" }\n");
  const ProgramResult ran = run({"--degrees", "1", "--csv", "rates.csv"});
  EXPECT_EQ(ran.exit_code, 2) << ran.output;
  ASSERT_EQ(table().size(), 5U);
  EXPECT_THAT(table()[1], HasSubstr("rounding in l2"));
  for (std::size_t row = 2; row <= 4; ++row) EXPECT_THAT(table()[row], Not(HasSubstr("rounding")));
}

TEST_F(Convergence, OfGradedMeshesIsJudgedByTheLargestCells) {
  write_file(path() / "case.toml",
             "[mesh]\ndimension = 2\ncells = [8, 8]\nspacing = [\"uniform\", { geometric = 0.5 }]\n"
             "[space]\ndegree = 2\n[problem]\nexact = \"sin(2*x+y)\"\nsource = \"5*sin(2*x+y)\"\n"
             "[boundary]\nleft = { value = \"sin(y)\" }\nright = { value = \"sin(2+y)\" }\n"
             "bottom = { value = \"sin(2*x)\" }\ntop = { value = \"sin(2*x+1)\" }\n");
  const std::string lines =
      "mesh.spacing=[\"uniform\", [0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 1]]";
  for (const char* spacing : {"mesh.spacing=[\"uniform\", { geometric = 0.5 }]", lines.c_str()}) {
    for (const auto& [levels, said] : {std::pair("4", "the largest cell is nowhere about halved"),
                                       std::pair("6", ": as expected")}) {
      const ProgramResult ran = run({"--degrees", "2", "--levels", levels, "--set", spacing});
      EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
      EXPECT_THAT(ran.output, HasSubstr(said));
    }
  }
}

TEST_F(Convergence, StopsByItselfAndSaysWhy) {
  const ProgramResult ran =
      run({"--levels", "12", "--max-dofs", "5000", "--degrees", "2", "--csv", "rates.csv"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("left out: more than --max-dofs 5000"));
  EXPECT_THAT(table().back(), HasSubstr(",,,,,,,left out: more than --max-dofs 5000,,,"));
  EXPECT_THAT(run({"--levels", "14", "--time-limit", "0.2", "--degrees", "1"}).output,
              HasSubstr("and --time-limit is 200 ms"));
  EXPECT_THAT(run({"--levels", "30", "--time-limit", "0.2", "--degrees", "1"}).exit_code, 0);
  const ProgramResult nothing = run({"--max-dofs", "1", "-q"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_EQ(nothing.errors, "tessera: nothing was measured: all rows were left out\n");
}

TEST_F(Convergence, DrawsAPlotOrSaysThatItCannot) {
  const ProgramResult without =
      run_program(path(), {"convergence", "case.toml", "--plot", "rates.svg"},
                  [] { setenv("PATH", "/nonexistent", 1); });
  EXPECT_EQ(without.exit_code, 3);
  EXPECT_EQ(without.output, "");
  EXPECT_THAT(without.errors, HasSubstr("gnuplot"));
  EXPECT_EQ(names_in(path()), (std::vector<std::string>{"case.toml", "stderr.txt", "stdout.txt"}));
  if (std::system("gnuplot --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no gnuplot";
  const ProgramResult ran = run({"--plot", "rates.svg", "--report", "rates.html", "--levels", "2"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(read_file(path() / "rates.svg"), HasSubstr("degree 2, rate "));
  EXPECT_THAT(read_file(path() / "rates.html"), HasSubstr("Convergence"));
}

TEST_F(Convergence, WritesNoPlotThatIsEmpty) {
  if (std::system("gnuplot --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no gnuplot";
  const ProgramResult ran = run({"--max-dofs", "1", "--plot", "rates.svg", "--csv", "rates.csv"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.output, Not(HasSubstr("the plot is in")));
  EXPECT_THAT(ran.errors, StartsWith("tessera: rates.svg is not written: there is no error above 0 "
                                     "to draw\n"));
  EXPECT_FALSE(std::filesystem::exists(path() / "rates.svg"));
}

TEST_F(Convergence, RefusesOneFileForTwoOutputs) {
  std::filesystem::create_directory(path() / "here");
  std::filesystem::create_directory_symlink("here", path() / "link");
  for (const auto& [csv, plot] :
       {std::pair("a.x", "a.x"), std::pair("a.x", "./a.x"), std::pair("here/a.x", "link/a.x")}) {
    const ProgramResult ran = run({"--csv", csv, "--plot", plot});
    EXPECT_EQ(ran.exit_code, 1) << plot;
    EXPECT_EQ(ran.output, "");
    EXPECT_THAT(ran.errors, HasSubstr(std::string("--plot ") + plot + ": is the file of --csv"));
    EXPECT_FALSE(std::filesystem::exists(path() / csv));
  }
}

TEST_F(Convergence, LeavesItsCaseAlone) {
  for (const char* option : {"--csv", "--plot", "--report"}) {
    const std::string before = read_file(path() / "case.toml");
    const ProgramResult ran = run({option, "./case.toml", "--overwrite"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.errors, HasSubstr("./case.toml: is the file of the case case.toml as well"));
    EXPECT_EQ(read_file(path() / "case.toml"), before);
  }
}

TEST_F(Convergence, SaysWhichErrorsCannotBeComputed) {
  // Finite at the nodes of the first mesh, but not at the points of the norms.
  const ProgramResult ran = run({"--degrees", "1", "--set", "mesh.cells=[3, 3]", "--set",
                                 "problem.exact=abs(x - 0.5) < 0.17 ? sqrt(-x*y*(1-y)) : 0"});
  EXPECT_NE(ran.exit_code, 3) << ran.output << ran.errors;
  EXPECT_THAT(ran.output + ran.errors, HasSubstr("problem.exact"));
}

TEST_F(Convergence, NeedsTheExactSolution) {
  write_file(path() / "case.toml", "[mesh]\ncells = [2, 2, 2]\n");
  const ProgramResult ran = run();
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.errors, StartsWith("case.toml: problem.exact: is required, and missing: "));
  EXPECT_EQ(ran.output, "");
}

TEST_F(Convergence, RefusesWhatItCannotDoBeforeItBegins) {
  EXPECT_THAT(run({"--degrees", "1,40"}).errors, HasSubstr("40"));
  EXPECT_EQ(run({"--degrees", "1,40"}).exit_code, 1);
  EXPECT_EQ(run({"--csv", "no/such/rates.csv"}).exit_code, 1);
  const std::string other =
      "# Tessera 1\n# title: t\n# command: tessera compare a.toml\ndegree\n1\n";
  write_file(path() / "rates.csv", other);
  EXPECT_THAT(
      run({"--csv", "rates.csv"}).errors,
      HasSubstr("it is a table, but none of `tessera convergence`; --overwrite replaces it"));
  EXPECT_EQ(read_file(path() / "rates.csv"), other);
  const ProgramResult stencil = run({"--set", "operator.kernel=stencil", "--degrees", "1,2"});
  EXPECT_EQ(stencil.exit_code, 1);
  EXPECT_EQ(stencil.output, "");
  EXPECT_THAT(run({"--set", "operator.kernel=stencil", "--set", "space.degree=1"}).output,
              HasSubstr("degree 2 is left out: "));
}

TEST_F(Convergence, KeepsItsRowsWhenItIsInterrupted) {
  Program program(path(), {"convergence", "case.toml", "--csv", "rates.csv", "--levels", "14",
                           "--degrees", "2", "--set", "solver.preconditioner=none"});
  ASSERT_TRUE(program.wait_for_output("  16x8 "));
  program.signal(SIGINT);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(ran.exit_code, 130);
  EXPECT_GE(table().size(), 4U);
}

}  // namespace
}  // namespace tessera::testing
