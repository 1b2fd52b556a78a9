// Tests of `tessera report` and of `--report`, as a user runs them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ReportTest : public ::testing::Test {
 protected:
  ProgramResult start(const std::vector<std::string>& arguments) {
    return run_program(path(), arguments);
  }
  void solve(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"run",
                                          shipped("poisson_2d.toml").string(),
                                          "--quiet",
                                          "--output",
                                          name,
                                          "--set",
                                          "mesh.cells=[4, 4]",
                                          "--set",
                                          "solver.preconditioner=multigrid",
                                          "--set",
                                          "title='<b>Title</b> & \"more\"'"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult ran = start(arguments);
    ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  }
  ProgramResult compare(const std::string& csv, const std::vector<std::string>& more = {}) {
    write_file(path() / "study.toml",
               "title = \"Few\"\n[study]\nkernels = [\"csr\", \"tensor\", \"kronecker\"]\ndegrees "
               "= [1, 2]\ndimensions = [2]\ndofs = [500, 1000, 2000]\ngeometry = [\"uniform\"]\n"
               "scatters = [\"coloring\"]\napplications = 1\nrepetitions = 1\n");
    std::vector<std::string> arguments = {"compare", "study.toml", "--csv", csv};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return start(arguments);
  }
  // What is wrong with pages and pictures; empty if nothing is.
  std::string faults(const std::vector<std::string>& names) {
    std::string command = std::string(TESSERA_PYTHON) + " " + TESSERA_CHECK_PAGE;
    for (const std::string& name : names) command += " '" + (path() / name).string() + "'";
    command += " > '" + (path() / "faults.txt").string() + "' 2>&1";
    const int status = std::system(command.c_str());
    return status == 0 ? "" : "faults: " + read_file(path() / "faults.txt");
  }
  std::string page(const std::string& name = "report.html") { return read_file(path() / name); }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(ReportTest, OfARunHasItsNumbersPlotsCaseAndMachine) {
  solve("first");
  const ProgramResult ran = start({"report", "first", "-o", "report.html"});
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(faults({"report.html"}), "");
  EXPECT_THAT(page(),
              AllOf(HasSubstr("&lt;b&gt;Title&lt;/b&gt; &amp; &quot;more&quot;"),
                    HasSubstr("Where the time went"), HasSubstr("Multigrid&#39;s time by level"),
                    HasSubstr("Relative residual by iteration"), HasSubstr("[mesh]"),
                    HasSubstr("<dt>machine</dt>"), HasSubstr("data:image/png;base64,")));
  solve("bare", {"--set", "output.picture=false"});
  ASSERT_EQ(start({"report", "bare", "-o", "bare.html"}).exit_code, 0);
  EXPECT_THAT(page("bare.html"), HasSubstr("There is no picture"));
  EXPECT_THAT(page(), Not(HasSubstr("<b>Title")));
}

TEST_F(ReportTest, OfARunInTimeThatWasEndedHasItsLastProbes) {
  std::filesystem::create_directory(path() / "ended");
  std::string steps = "t,dt,error_estimate,linear_iterations,rejected,nonlinear_iterations\n";
  for (int line = 1; line < 60; ++line) steps += fmt::format("{},0.1,nan,4,0,0\n", 0.1 * line);
  write_file(path() / "ended/steps.csv", steps);
  write_file(path() / "ended/animation.png", "\x89PNG\r\n\x1a\n" + std::string(1000, 'x'));
  std::string probes = "# Tessera 1\n# u1: 0.5, 0.5, 0\nt,u1\n";
  for (int line = 0; line < 300; ++line) probes += std::to_string(line) + ",1.5\n";
  write_file(path() / "ended/probes.csv", probes);
  const ProgramResult ran = start({"report", "ended"});
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(faults({"report.html"}), "");
  EXPECT_THAT(page(),
              AllOf(HasSubstr("The run is unfinished"), HasSubstr("The last 200 of 300 times."),
                    HasSubstr(">299</td>"), Not(HasSubstr(">99</td>")),
                    HasSubstr("Length of the steps, ended"), HasSubstr("Some of the 59 steps:"),
                    HasSubstr("Linear iterations of each step, ended"), HasSubstr(">5.9</td>"),
                    HasSubstr("Values at the probes, ended"), HasSubstr("0.5, 0.5, 0"),
                    HasSubstr("alt=\"Animation of the outputs of ended\""),
                    Not(HasSubstr("residuals.csv"))));
  write_file(path() / "ended/animation.png", "\x89PNG\r\n\x1a\n" + std::string(4'000'000, 'x'));
  ASSERT_EQ(start({"report", "ended"}).exit_code, 0);
  EXPECT_THAT(page(), HasSubstr("The animation of the outputs of ended is left out"));
  EXPECT_LT(page().size(), 100'000U);
}

TEST_F(ReportTest, OfANonlinearRunTellsOfItsIteration) {
  write_file(path() / "nonlinear.toml",
             "[mesh]\ndimension = 2\ncells = [2, 2]\n[space]\ndegree = 2\n"
             "[problem]\ncoefficient = \"1 + u^2\"\nsource = \"10\"\n"
             "[boundary]\nleft = { value = \"0\" }\n[nonlinear]\nmax_iterations = 1\n");
  EXPECT_EQ(start({"run", "nonlinear.toml", "--output", "nonlinear"}).exit_code, 2);
  ASSERT_EQ(start({"report", "nonlinear", "-o", "page.html"}).exit_code, 0);
  EXPECT_THAT(page("page.html"),
              AllOf(HasSubstr("newton: iteration limit after 1 iteration"), HasSubstr(" in all"),
                    HasSubstr("no solution after 1 iterations")));
}

TEST_F(ReportTest, OfSeveralRunsHasThemSideBySide) {
  solve("first");
  solve("second", {"--set", "space.degree=2", "--set", "operator.precision=single", "--set",
                   "solver.relative_tolerance=1e-4"});
  ASSERT_EQ(start({"report", "first", "second"}).exit_code, 0) << "into report.html";
  EXPECT_EQ(faults({"report.html"}), "");
  EXPECT_THAT(page(), AllOf(HasSubstr("Runs side by side"), HasSubstr("second : first")));
}

TEST_F(ReportTest, EmbedsThePictureUnlessThePageWouldBeTooLarge) {
  solve("first");
  write_file(path() / "first/solution.png", "\x89PNG\r\n\x1a\n" + std::string(1000, 'x'));
  ASSERT_EQ(start({"report", "first"}).exit_code, 0);
  EXPECT_THAT(page(), HasSubstr("<img src=\"data:image/png;base64,iVBORw0KGgp4"));
  EXPECT_EQ(faults({"report.html"}), "");
  write_file(path() / "first/solution.png", "\x89PNG\r\n\x1a\n" + std::string(5'000'000, 'x'));
  ASSERT_EQ(start({"report", "first"}).exit_code, 0);
  EXPECT_THAT(page(), HasSubstr("The picture of the solution of first is left out"));
  EXPECT_EQ(faults({"report.html"}), "");
}

TEST_F(ReportTest, OfAComparisonIsWrittenByItOrFromItsCsvFile) {
  const ProgramResult ran = compare("study.csv", {"--report", "first.html"});
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("the report is in first.html"));
  EXPECT_EQ(faults({"first.html"}), "");
  EXPECT_THAT(page("first.html"),
              AllOf(HasSubstr("tessera compare study.toml --csv study.csv"), HasSubstr("Roofline"),
                    HasSubstr("Speed by degree, 2D, uniform, double"),
                    HasSubstr("Speed by size, degree 2, 2D"), HasSubstr("tensor/coloring"),
                    HasSubstr("Memory by degree"), HasSubstr("<td>kronecker</td>"),
                    HasSubstr("[study]\nkernels = [&quot;csr&quot;, &quot;tensor&quot;"),
                    HasSubstr("<svg class=\"wide\""), HasSubstr("<svg class=\"narrow\"")));
  ASSERT_EQ(start({"report", "study.csv", "-o", "second.html"}).exit_code, 0);
  ASSERT_EQ(start({"report", "study.csv", "-o", "third.html"}).exit_code, 0);
  EXPECT_EQ(page("second.html"), page("third.html")) << "the same input, the same page";
}

TEST_F(ReportTest, OfTwoMachinesSharesAxesAndHasTheRatio) {
  ASSERT_EQ(compare("laptop.csv").exit_code, 0);
  ASSERT_EQ(compare("server.csv", {"--set", "study.threads=[1]"}).exit_code, 0);
  ASSERT_EQ(start({"report", "laptop.csv", "server.csv"}).exit_code, 0);
  EXPECT_EQ(faults({"report.html"}), "");
  EXPECT_THAT(page(), AllOf(HasSubstr("server : laptop"), HasSubstr("double: laptop\""),
                            HasSubstr("double: server\"")));
}

TEST_F(ReportTest, OfSolversAndConvergenceHasTheirPlots) {
  write_file(
      path() / "study.toml",
      "[study]\nsolvers = [\"multigrid\", \"jacobi\"]\ndegrees = [2]\ndimensions = [2]\ndofs "
      "= [300, 1000]\ngeometry = [\"uniform\"]\nrepetitions = 1\n");
  ASSERT_EQ(start({"compare", "study.toml", "--csv", "solvers.csv"}).exit_code, 0);
  write_file(path() / "orders.csv",
             "# Tessera 0.1.0\n# title: Orders\ncase,dimension,degree,cells,dofs,h,l2,h1,max,"
             "rate_l2,rate_h1,rate_max,note,iterations,setup_s,solve_s\nc,2,2,4 x "
             "4,81,0.25,1e-3,1e-2,1e-3,,,,,1,0.1,0.2\nc,2,2,8 x "
             "8,289,0.125,1.2e-4,2e-3,1e-4,3.0,2.1,3.1,,1,0.1,0.4\n");
  write_file(path() / "blocks.csv",
             "# Tessera 0.1.0\n# command: tessera study "
             "blocks\nthreads,ms\n32,1.5\n");
  const ProgramResult ran = start({"report", "solvers.csv", "orders.csv", "blocks.csv"});
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(faults({"report.html"}), "");
  EXPECT_THAT(page(),
              AllOf(HasSubstr("Time to solution by size"), HasSubstr("Iterations by size"),
                    HasSubstr("Error in L2, Orders, 2D"), HasSubstr("tessera study blocks")));
}

TEST_F(ReportTest, OfThePapersMeasurementsHasItsFiguresAsFiles) {
  const ProgramResult ran =
      start({"report", shipped("paper_h200/paper_2d.csv").string(),
             shipped("paper_h200/paper_3d.csv").string(), "--plots", "figures"});
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  std::vector<std::string> pictures;
  for (const std::string& name : names_in(path() / "figures"))
    pictures.push_back("figures/" + name);
  EXPECT_GE(pictures.size(), 16U);
  EXPECT_EQ(faults(pictures), "");
  EXPECT_FALSE(std::filesystem::exists(path() / "report.html")) << "only with --output";
}

TEST_F(ReportTest, BadInputIsOneLineAndWritesNothing) {
  write_file(path() / "other.csv", "name,price\nx,3\n");
  std::filesystem::create_directory(path() / "empty");
  for (const char* input : {"other.csv", "empty", "nowhere"}) {
    const ProgramResult ran = start({"report", input});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.errors, HasSubstr(input));
    EXPECT_EQ(std::count(ran.errors.begin(), ran.errors.end(), '\n'), 1) << ran.errors;
    EXPECT_FALSE(std::filesystem::exists(path() / "report.html"));
  }
  EXPECT_EQ(start({"report"}).exit_code, 1);
  write_file(path() / "case.toml", "[mesh]\ncells = [2, 3]\n");
  EXPECT_THAT(start({"report", "case.toml"}).errors,
              HasSubstr("case.toml: neither a directory of results nor a CSV file of Tessera"));
}

TEST_F(ReportTest, ReplacesAReportAndNothingElse) {
  solve("first");
  ASSERT_EQ(start({"report", "first"}).exit_code, 0);
  EXPECT_EQ(start({"report", "first"}).exit_code, 0);
  write_file(path() / "mine.html", "mine");
  const ProgramResult ran = start({"report", "first", "-o", "mine.html"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.errors, HasSubstr("mine.html: exists and is not a report of Tessera"));
  EXPECT_EQ(page("mine.html"), "mine");
  EXPECT_EQ(compare("study.csv", {"--report", "mine.html"}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(path() / "study.csv")) << "before anything is measured";
  EXPECT_EQ(start({"report", "first", "-o", "mine.html", "--overwrite"}).exit_code, 0);
  EXPECT_NE(page("mine.html"), "mine");
}

TEST_F(ReportTest, IsNoOtherOutput) {
  const ProgramResult ran = compare("one.x", {"--report", "./one.x"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.errors,
            "--report ./one.x: is the file of study.output (--csv) one.x as well, and would "
            "replace it; each needs a name of its own\n");
  EXPECT_FALSE(std::filesystem::exists(path() / "one.x"));
  solve("first");
  for (const char* input : {"first/result.json", "first/case.toml"}) {
    const std::string before = read_file(path() / input);
    const ProgramResult over = start({"report", "first", "-o", input, "--overwrite"});
    EXPECT_EQ(over.exit_code, 1);
    EXPECT_EQ(over.errors, std::string("-o ") + input + ": is the file of the result " + input +
                               " as well, and would replace it; each needs a name of its own\n");
    EXPECT_EQ(read_file(path() / input), before);
  }
  EXPECT_EQ(start({"report", "first", "-o", "plots/a.svg", "--plots", "plots"}).exit_code, 1);
  for (const char* plots : {"first/result.json", "first/result.json/plots"}) {
    const ProgramResult file = start({"report", "first", "--plots", plots});
    EXPECT_EQ(file.exit_code, 1);
    EXPECT_EQ(file.errors,
              std::string("--plots ") + plots + ": first/result.json is no directory\n");
  }
}

TEST_F(ReportTest, OnAFullDiskEndsWithTheCodeForThat) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a file system";
  const std::filesystem::path full = disk.directory().path();
  std::ofstream(full / "rest") << std::string(1 << 20, 'x');
  solve("first");
  const std::string page_path = (full / "page.html").string();
  const ProgramResult reported = start({"report", "first", "-o", page_path});
  EXPECT_EQ(reported.exit_code, 3);
  const std::string message = "tessera: cannot write " + page_path + ": No space left on device\n";
  EXPECT_EQ(reported.errors, message);
  const ProgramResult compared = compare("study.csv", {"--report", page_path});
  EXPECT_EQ(compared.exit_code, 3);
  EXPECT_EQ(compared.errors, message);
}

TEST_F(ReportTest, TablesAndPlotsReplaceTheirLikesAndNothingElse) {
  const std::string mine = "[mesh]\ncells = [2, 2]\n";
  for (const char* option : {"--csv", "--plot"}) {
    write_file(path() / "mine", mine);
    const auto convergence = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {"convergence", shipped("poisson_2d.toml").string(), "--degrees",
                                 "1", "--levels", "2", "-q", option, "mine"});
      return start(more);
    };
    const ProgramResult refused = convergence({});
    EXPECT_EQ(refused.exit_code, 1) << option;
    EXPECT_THAT(refused.errors, HasSubstr("it exists and is no"));
    EXPECT_EQ(read_file(path() / "mine"), mine);
    EXPECT_EQ(convergence({"--overwrite"}).exit_code, 0) << option;
    EXPECT_NE(read_file(path() / "mine"), mine);
    EXPECT_EQ(convergence({}).exit_code, 0) << option;
  }
  write_file(path() / "mine", mine);
  EXPECT_EQ(compare("mine", {}).exit_code, 1);
  EXPECT_EQ(read_file(path() / "mine"), mine);
  solve("first");
  const std::string residuals = read_file(path() / "first/residuals.csv");
  const ProgramResult result = compare("first/residuals.csv", {});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("it is a result of the run in its directory"));
  EXPECT_EQ(read_file(path() / "first/residuals.csv"), residuals);
  std::filesystem::create_directory(path() / "folder");
  const ProgramResult folder = compare("folder", {});
  EXPECT_EQ(folder.exit_code, 1) << "before anything is measured";
  EXPECT_THAT(folder.errors, HasSubstr("folder: Is a directory"));
  ASSERT_EQ(compare("study.csv", {}).exit_code, 0);
  ASSERT_EQ(start({"report", "study.csv", "--plots", "plots"}).exit_code, 0);
  ASSERT_EQ(start({"report", "study.csv", "--plots", "plots"}).exit_code, 0);
  const std::string plot = "plots/" + names_in(path() / "plots").front();
  write_file(path() / plot, mine);
  const ProgramResult plots = start({"report", "study.csv", "--plots", "plots", "-o", "page.html"});
  EXPECT_EQ(plots.exit_code, 1);
  EXPECT_THAT(plots.errors, HasSubstr(plot + ": it exists and is no plot of Tessera"));
  EXPECT_EQ(read_file(path() / plot), mine);
  EXPECT_FALSE(std::filesystem::exists(path() / "page.html"));
}

TEST_F(ReportTest, OfADirectoryTellsItsTablesApart) {
  std::filesystem::create_directory(path() / "both");
  ASSERT_EQ(compare("both/one.csv", {}).exit_code, 0);
  ASSERT_EQ(compare("both/two.csv", {}).exit_code, 0);
  ASSERT_EQ(start({"report", "both"}).exit_code, 0);
  EXPECT_THAT(page(), AllOf(HasSubstr("both/one"), HasSubstr("both/two")));
}

TEST_F(ReportTest, SaysThatGnuplotIsMissing) {
  solve("first");
  const ProgramResult ran =
      run_program(path(), {"report", "first"}, [] { setenv("PATH", "/nowhere", 1); });
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.errors, HasSubstr("gnuplot"));
  EXPECT_EQ(std::count(ran.errors.begin(), ran.errors.end(), '\n'), 1) << ran.errors;
}

}  // namespace
}  // namespace tessera::testing
