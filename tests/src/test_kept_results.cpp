// These tests check that a failure after the solve does not cost the results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>

#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::vector<std::string> kAllFiles = {"case.toml",    "residuals.csv", "result.json",
                                            "solution.png", "solution.vtu",  "timings.csv",
                                            "view.py"};

class KeptResults : public ::testing::Test {
 protected:
  ProgramResult run(
      const std::string& text, std::vector<std::string> more = {},
      const std::function<void()>& prepare = [] {}) {
    write_file(path() / "case.toml", text);
    more.insert(more.begin(), {"run", "case.toml", "--output", "out"});
    return run_program(path(), more, prepare);
  }
  const std::filesystem::path& path() const { return directory_.path(); }
  std::filesystem::path out() const { return path() / "out"; }
  nlohmann::json result() const { return read_json(out() / "result.json"); }
  std::vector<std::string> notes() const { return result()["notes"]; }
  void expect_one_note(const ProgramResult& ran, const std::string& what, const std::string& why) {
    ASSERT_EQ(notes().size(), 1U);
    EXPECT_THAT(notes()[0], HasSubstr(what));
    EXPECT_THAT(notes()[0], HasSubstr(why));
    EXPECT_THAT(ran.errors, HasSubstr("tessera: " + notes()[0] + "\n"));
  }

 private:
  TemporaryDirectory directory_;
};

void limit_file_size(rlim_t bytes) {
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

TEST_F(KeptResults, AUsualRunHasNoNotes) {
  const ProgramResult ran = run("[mesh]\ncells = [3, 2, 2]\n[problem]\nsource = \"1\"\n");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(notes(), IsEmpty());
  EXPECT_EQ(names_in(out()), kAllFiles);
}

TEST_F(KeptResults, FoldersInThePlaceOfResultsAreRefusedBeforeTheSolve) {
  std::filesystem::create_directories(out() / "solution.vtu");
  const ProgramResult ran =
      run("[mesh]\ncells = [3, 2, 2]\n[problem]\nsource = \"1\"\n", {"--overwrite"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.errors, HasSubstr("solution.vtu: a directory has the name of a result"));
  EXPECT_EQ(names_in(out()), std::vector<std::string>{"solution.vtu"});
}

TEST_F(KeptResults, KeysWithoutEffectAreNoted) {
  const std::string text =
      "[mesh]\ncells = [3, 2, 2]\n[problem]\nsource = \"1\"\n"
      "[solver]\npreconditioner = \"jacobi\"\nrestart = 50\n"
      "multigrid = { levels = 2 }\nchebyshev = { degree = 3 }\n";
  const ProgramResult ran = run(text);
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(
      notes(),
      ElementsAre("solver.restart means nothing here: it is for the method flexible-gmres",
                  "solver.multigrid means nothing here: it is for the preconditioner multigrid",
                  "solver.chebyshev means nothing here: it is for the preconditioner chebyshev"));
}

// The points of the operator are not the middle of a cell.
TEST_F(KeptResults, CoefficientThatIsInfiniteAtACellsCenter) {
  const ProgramResult ran =
      run("[mesh]\ndimension = 2\ncells = [5, 5]\n[space]\ndegree = 1\n[problem]\n"
          "coefficient = \"1/sqrt((x-0.5)^2 + (y-0.5)^2)\"\nsource = \"1\"\n");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(names_in(out()), kAllFiles);
  expect_one_note(ran, "the coefficient in solution.vtu is NaN at the centers of some cells",
                  "problem.coefficient is inf at (0.5, 0.5)");
  EXPECT_GT(result()["solution"]["energy"].get<double>(), 0.0);
  EXPECT_THAT(read_file(out() / "solution.vtu"), HasSubstr("Name=\"coefficient\""));
}

// The mean of a cell's corners is neither in the cell nor where the coefficient is positive.
TEST_F(KeptResults, CoefficientOfACurvedCellIsThatOfItsMiddle) {
  const ProgramResult ran =
      run("[mesh]\ndimension = 2\ncells = [1, 2]\n"
          "map = [\"(1+x/10)*cos(pi*y)\", \"(1+x/10)*sin(pi*y)\"]\n[space]\ndegree = 8\n"
          "[problem]\ncoefficient = \"x^2 + y^2 - 0.9\"\nsource = \"1\"\n");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(notes(), IsEmpty());
}

// The tolerance is below rounding: from then on residual and directions are constants, along which
// a step has no bound.
TEST_F(KeptResults, SolutionOfASingularProblemSurvivesATinyTolerance) {
  for (const char* preconditioner : {"none", "fast-diagonalization", "multigrid"}) {
    SCOPED_TRACE(preconditioner);
    const ProgramResult ran =
        run("[mesh]\ndimension = 2\ncells = [4, 4]\n[space]\ndegree = 16\n[problem]\n"
            "source = \"cos(pi*x)\"\nexact = \"cos(pi*x)/pi^2\"\n[boundary]\n"
            "left = { type = \"neumann\" }\nright = { type = \"neumann\" }\n"
            "bottom = { type = \"neumann\" }\ntop = { type = \"neumann\" }\n"
            "[solver]\nrelative_tolerance = 1e-15\n",
            {"--overwrite", "--set", "operator.kernel=kronecker", "--set",
             std::string("solver.preconditioner=") + preconditioner});
    EXPECT_EQ(ran.exit_code, 2) << ran.errors;
    EXPECT_LT(result()["solver"]["relative_residual"].get<double>(), 1e-10);
    EXPECT_LT(result()["error"]["l2"].get<double>(), 1e-10);
  }
}

TEST_F(KeptResults, CoefficientThatIsNegativeAtThePointsOfTheNorms) {
  const ProgramResult ran =
      run("[mesh]\ndimension = 2\ncells = [4, 4]\n[space]\ndegree = 1\n[problem]\n"
          "coefficient = \"x - 0.03\"\nsource = \"1\"\n");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(names_in(out()), kAllFiles);
  expect_one_note(ran, "solution.energy is not known", "problem.coefficient is -0.0126");
  EXPECT_TRUE(result()["solution"]["energy"].is_null());
  EXPECT_GT(result()["solution"]["integral"].get<double>(), 0.0);
  EXPECT_GT(result()["solution"]["max"].get<double>(), 0.0);
  EXPECT_THAT(ran.output, HasSubstr("energy unknown"));
}

TEST_F(KeptResults, ExactThatIsNanBetweenTheNodes) {
  const ProgramResult ran =
      run("[mesh]\ndimension = 2\ncells = [4, 4]\n[space]\ndegree = 1\n[problem]\n"
          "source = \"1\"\nexact = \"sqrt(abs(x - 0.125) - 0.09)\"\n");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(names_in(out()), kAllFiles);
  expect_one_note(ran, "error.l2 and error.h1_seminorm are not known", "problem.exact is ");
  EXPECT_TRUE(result()["error"]["l2"].is_null());
  EXPECT_TRUE(result()["error"]["h1_seminorm"].is_null());
  EXPECT_GT(result()["error"]["max"].get<double>(), 0.0);
}

// dx/dxi = 1 - 1.1 xi is positive at 3 Gauss points per axis and negative at the last of 5.
TEST_F(KeptResults, CellThatFoldsOverAtThePointsOfTheNorms) {
  const ProgramResult ran =
      run("[mesh]\ndimension = 2\ncells = [1, 1]\nmap = [\"x - 0.55*x^2\", \"y\"]\n"
          "[space]\ndegree = 2\n[problem]\nsource = \"1\"\nexact = \"x*y\"\n");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(names_in(out()), kAllFiles);
  EXPECT_THAT(
      notes(),
      Contains(HasSubstr("error.l2 and error.h1_seminorm are not known: cell (0, 0) has Jacobian "
                         "determinant -0.0484 at the quadrature point that maps to (0.453481, ")));
  EXPECT_TRUE(result()["error"]["l2"].is_null());
  EXPECT_TRUE(result()["solution"]["energy"].is_null());
  EXPECT_GT(result()["error"]["max"].get<double>(), 0.0);
}

TEST_F(KeptResults, NormsThatOverflowAreSaidToBe) {
  const ProgramResult ran = run(
      "[mesh]\ndimension = 2\ncells = [4, 4]\n[problem]\nsource = \"1\"\nexact = \"1e200*x\"\n");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_TRUE(result()["error"]["l2"].is_null());
  EXPECT_THAT(notes(), Contains(HasSubstr("error.l2 is not known: it is inf")));
}

TEST_F(KeptResults, ValuesBeyondSinglePrecisionAreKeptInTheVtu) {
  for (const char* source : {"1e45", "1e-45"}) {
    const ProgramResult ran = run("[mesh]\ndimension = 2\ncells = [4, 4]\n[problem]\nsource = \"" +
                                      std::string(source) + "\"\n",
                                  {"--overwrite"});
    EXPECT_EQ(ran.exit_code, 0) << ran.errors;
    EXPECT_THAT(notes(),
                ElementsAre("solution.vtu has solution in double precision: the range of single "
                            "precision is too small"));
    const std::string vtu = read_file(out() / "solution.vtu");
    EXPECT_THAT(vtu, HasSubstr("type=\"Float64\" Name=\"solution\""));
    EXPECT_THAT(vtu, HasSubstr("type=\"Float32\" Name=\"coefficient\""));
  }
}

TEST_F(KeptResults, ResidualsAreThoseThatTheSolverDividedBy) {
  ASSERT_EQ(run("[mesh]\ndimension = 2\ncells = [8, 8]\n[problem]\nsource = \"0\"\n[solver]\n"
                "initial = \"sin(pi*x)*sin(pi*y)\"\n")
                .exit_code,
            0);
  std::istringstream lines(read_file(out() / "residuals.csv"));
  std::string header;
  std::string first;
  std::getline(lines, header);
  std::getline(lines, first);
  // b = 0: residuals are relative to the first.
  const double residual = std::stod(first.substr(first.find(',') + 1));
  EXPECT_GT(residual, 0.1);
  EXPECT_EQ(first.substr(first.rfind(',') + 1), "1.0000000000e+00");
}

TEST_F(KeptResults, MapThatIsNotFiniteIsTheUsersMistakeWhateverReadsItFirst) {
  const std::string text =
      "[mesh]\ndimension = 2\ncells = [8, 8]\nmap = [\"1/x\", \"y\"]\n"
      "[solver]\npreconditioner = \"multigrid\"\n";
  const ProgramResult ran = run(text);
  const std::string message =
      "case.toml:4: mesh.map = [\"1/x\", \"y\"]: is inf at (0, 0); it must be finite\n";
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.errors, message);
  EXPECT_FALSE(std::filesystem::exists(out()));
  const ProgramResult checked = run_program(path(), {"check", "case.toml"});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_EQ(checked.errors, message);
}

// Entries of the matrix overflow: no preconditioner can be made of them.
TEST_F(KeptResults, PreconditionerThatCannotBeMadeIsNoInternalError) {
  for (const char* preconditioner : {"multigrid", "chebyshev"}) {
    const ProgramResult ran =
        run("[mesh]\ndimension = 2\ncells = [16, 16]\n[space]\ndegree = 2\n[problem]\n"
            "coefficient = \"1e308\"\nsource = \"1\"\n",
            {"--set", std::string("solver.preconditioner=") + preconditioner});
    EXPECT_THAT(ran.errors, Not(HasSubstr("internal error")));
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.errors, ::testing::StartsWith("case.toml:"));
  }
}

constexpr char kLarger[] =
    "[mesh]\ncells = [10, 10, 10]\n[space]\ndegree = 3\n[problem]\nsource = \"sin(9*x*y)\"\n";
constexpr rlim_t kLessThanItsVtu = 60'000;

TEST_F(KeptResults, FullDiskCostsTheLargeFileOnly) {
  const ProgramResult ran =
      run(kLarger, {"--set", "output.picture=false"}, [] { limit_file_size(kLessThanItsVtu); });
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(names_in(out()),
              ElementsAre("case.toml", "residuals.csv", "result.json", "timings.csv"));
  expect_one_note(ran, "solution.vtu is missing: cannot write ", "File too large");
  EXPECT_TRUE(result()["solver"]["converged"].get<bool>());
  EXPECT_THAT(ran.output, Not(HasSubstr("paraview")));
}

TEST_F(KeptResults, FilesOfTwoRunsNeverStandSideBySide) {
  ASSERT_EQ(run(kLarger).exit_code, 0);
  write_file(out() / "view.png", "a picture of the old results");
  write_file(out() / "mine.txt", "mine");
  EXPECT_EQ(run(kLarger, {"--overwrite"}, [] { limit_file_size(kLessThanItsVtu); }).exit_code, 3);
  EXPECT_THAT(names_in(out()),
              ElementsAre("case.toml", "mine.txt", "residuals.csv", "result.json", "timings.csv"));
}

TEST_F(KeptResults, ADirectoryIsOneRunsAloneUntilItEnds) {
  write_file(path() / "long.toml",
             "[mesh]\ndimension = 2\ncells = [8, 8]\n[time]\nend = 1\nstep = 1e-6\n");
  Program first(path(), {"run", "long.toml", "--output", "out"});
  ASSERT_TRUE(first.wait_until([&] { return std::filesystem::exists(out() / "steps.csv"); }));
  TemporaryDirectory elsewhere;
  const ProgramResult second =
      run_program(elsewhere.path(), {"run", (path() / "long.toml").string(), "--output",
                                     out().string(), "--overwrite", "--set", "time.step=0.5"});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.errors,
              HasSubstr("another run (process " + std::to_string(first.id()) + " on "));
  EXPECT_EQ(std::count(second.errors.begin(), second.errors.end(), '\n'), 1);
  first.signal(SIGKILL);
  first.wait();
  EXPECT_EQ(run_program(path(), {"run", "long.toml", "--output", "out", "--overwrite", "--set",
                                 "time.step=0.5"})
                .exit_code,
            0);
  EXPECT_THAT(names_in(out()), Not(Contains(".tessera_lock")));
}

// By whatever name, and with permission to replace results.
TEST_F(KeptResults, WhatARunReadsStays) {
  std::filesystem::create_directory(out());
  const std::string mine = "# mine\n[mesh]\ncells = [2, 2, 2]\n[output]\noverwrite = true\n";
  const std::string points = "name,x,y,z\na,0.5,0.5,0.5\n";
  write_file(out() / "case.toml", mine);
  write_file(out() / "probes.csv", points);
  std::filesystem::create_symlink("out/case.toml", path() / "link.toml");
  std::filesystem::create_hard_link(out() / "probes.csv", path() / "points.csv");
  write_file(path() / "case.toml", mine);
  const std::string of_points = "output.probes=\"points.csv\"";
  for (const auto& [case_file, setting, lost] :
       std::vector<std::array<std::string, 3>>{{"out/case.toml", "space.degree=3", "out/case.toml"},
                                               {"link.toml", "space.degree=3", "link.toml"},
                                               {"case.toml", of_points, "points.csv"}}) {
    const ProgramResult ran =
        run_program(path(), {"run", case_file, "--output", "out", "--set", setting});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.errors,
                HasSubstr("would take the place of " + lost + ", which this run reads"));
    EXPECT_EQ(names_in(out()), (std::vector<std::string>{"case.toml", "probes.csv"}));
    EXPECT_EQ(read_file(out() / "case.toml"), mine);
    EXPECT_EQ(read_file(out() / "probes.csv"), points);
  }
}

TEST_F(KeptResults, StayWhereACaseInTimeCannotBegin) {
  const std::string text =
      "[mesh]\ndimension = 2\ncells = [2, 2]\n[boundary]\nleft = { value = \"0\" }\n"
      "[time]\nend = 1\nstep = 0.5\ninitial = \"x\"\n[output]\npicture = false\n";
  write_file(path() / "heat.toml", text);
  const std::vector<std::string> arguments = {"run", "heat.toml", "--output", "out", "--overwrite"};
  ASSERT_EQ(run_program(path(), arguments).exit_code, 0);
  // What allowed this run to replace results allows nothing to those that repeat it.
  EXPECT_THAT(read_file(out() / "case.toml"), HasSubstr("overwrite = false"));
  const std::vector<std::string> names = names_in(out());
  const std::string result = read_file(out() / "result.json");
  std::vector<std::string> bad = arguments;
  bad.insert(bad.end(), {"--set", "boundary.left.value=1/y"});
  const ProgramResult ran = run_program(path(), bad);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.errors, HasSubstr("boundary.left.value = \"1/y\": is inf at"));
  EXPECT_EQ(names_in(out()), names);
  EXPECT_EQ(read_file(out() / "result.json"), result);
}

TEST_F(KeptResults, ACaseThatARunHasWrittenMayBeRunAgainInItsPlace) {
  ASSERT_EQ(run("[mesh]\ncells = [2, 2, 2]\n").exit_code, 0);
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--overwrite"},
           {"--overwrite", "--set", "space.degree=3", "--set", "space.points=0"},
           {"--output", "other"}}) {
    std::vector<std::string> arguments = {"run", "out/case.toml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult ran = run_program(path(), arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  }
  EXPECT_EQ(read_json(path() / "other/result.json")["degree"], 3);
  const std::string mine = "# mine, to be kept\n" + read_file(out() / "case.toml");
  write_file(out() / "case.toml", mine);
  EXPECT_EQ(run_program(path(), {"run", "out/case.toml", "--overwrite"}).exit_code, 1);
  EXPECT_EQ(read_file(out() / "case.toml"), mine);
}

TEST_F(KeptResults, OldResultsStayWhereNoneCanTakeTheirPlace) {
  ASSERT_EQ(run(kLarger).exit_code, 0);
  const std::string before = read_file(out() / "result.json");
  const ProgramResult ran = run(kLarger, {"--overwrite"}, [] { limit_file_size(10); });
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(names_in(out()), kAllFiles);
  EXPECT_EQ(read_file(out() / "result.json"), before);
}

TEST_F(KeptResults, OldResultsGiveWayWhereTheDiskIsTooSmallForBoth) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a file system";
  const std::string out = (disk.directory().path() / "out").string();
  write_file(path() / "case.toml",
             "[mesh]\ncells = [8, 8, 8]\n[space]\ndegree = 1\n[problem]\nsource = \"sin(9*x*y)\"\n"
             "[output]\npicture = false\n");
  ASSERT_EQ(run_program(path(), {"run", "case.toml", "--output", out}).exit_code, 0);
  // Two pages of the disk are left.
  const std::size_t left = std::filesystem::space(out).available;
  ASSERT_GT(left, 8192U);
  write_file(std::filesystem::path(out) / "view.png", std::string(left - 8192, 'x'));
  const ProgramResult ran =
      run_program(path(), {"run", "case.toml", "--output", out, "--overwrite"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(names_in(out), Contains("solution.vtu"));
}

TEST_F(KeptResults, APictureThatFailsIsMissingAlone) {
  const ProgramResult ran = run("[mesh]\ncells = [3, 2, 2]\n[problem]\nsource = \"1\"\n", {},
                                [] { limit_file_size(30'000); });
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(names_in(out()), ElementsAre("case.toml", "residuals.csv", "result.json",
                                           "solution.vtu", "timings.csv", "view.py"));
  expect_one_note(ran, "solution.png is missing: cannot write ", "File too large");
}

// All memory that the process has not got yet is refused once the solve has begun.
TEST_F(KeptResults, WritingNeedsNoMoreMemoryThanTheSolve) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer ends a program that is out of memory";
#endif
  write_file(path() / "case.toml",
             "[mesh]\ncells = [90, 90, 90]\n[space]\ndegree = 1\n[problem]\nsource = \"1\"\n"
             "[solver]\npreconditioner = \"none\"\nrelative_tolerance = 1e-15\n"
             "max_iterations = 400\n");
  // The bandwidth of two threads is known from then on.
  run_program(path(), {"run", "case.toml", "--output", "first", "--threads", "2", "--set",
                       "mesh.cells=[2, 2, 2]"});
  Program program(path(), {"run", "case.toml", "--output", "out", "--threads", "2"});
  ASSERT_TRUE(program.wait_for_errors("iteration 1 "));
  std::ifstream statm("/proc/" + std::to_string(program.id()) + "/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{4} << 20);
  const rlimit limit{bytes, bytes};
  ASSERT_EQ(prlimit(program.id(), RLIMIT_AS, &limit, nullptr), 0);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(ran.exit_code, 2) << ran.errors;
  EXPECT_EQ(names_in(out()), kAllFiles);
  EXPECT_THAT(notes(), IsEmpty());
  EXPECT_GT(result()["solver"]["iterations"].get<int>(), 1);
}

}  // namespace
}  // namespace tessera::testing
