// These tests run commands with a case in time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Without [time] it would have no solution: what comes in through a face goes nowhere.
constexpr char kCase[] =
    "[mesh]\ndimension = 2\ncells = [4, 3]\n[problem]\nsource = \"1\"\nexact = \"x\"\n"
    "[boundary]\nleft = { type = \"neumann\", value = \"1\" }\nright = { type = \"neumann\" }\n"
    "bottom = { type = \"neumann\" }\ntop = { type = \"neumann\" }\n"
    "[time]\nend = 2\nstep = 0.125\noutput_interval = 0.5\n[output]\ndirectory = \"out\"\n";

class TimeCommands : public ::testing::Test {
 protected:
  void SetUp() override { write_file(path() / "case.toml", kCase); }
  ProgramResult command(const std::string& name, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {name, "case.toml"});
    return run_program(path(), more);
  }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(TimeCommands, CheckTellsTimesAndWhatStepsHold) {
  const ProgramResult checked = command("check");
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  EXPECT_THAT(checked.output, HasSubstr("\ntime 0 to 2, sdirk of order 3, steps of 0.125, output "
                                        "every 0.5 (5 times)\n"));
  for (const char* part : {"mass matrix", "vectors of time steps", "held for the next step"}) {
    EXPECT_THAT(checked.output, HasSubstr(part));
  }
}

// A little beyond the limit an unstable solution is finite for many steps.
TEST_F(TimeCommands, UnstableStepsAreRefusedWithTheLongestThatIsStable) {
  const auto explicit_run = [&](const std::string& step) {
    return command("run",
                   {"--overwrite", "--set", "time.method=explicit-rk", "--set", "time.step=" + step,
                    "--set", "time.end=0.05", "--set", "time.output_interval=0.05"});
  };
  const ProgramResult refused = explicit_run("0.02");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, StartsWith("--set time.step=0.02: time.step = 0.02: explicit-rk of "
                                         "order 3 is unstable with steps of this length"));
  const std::string before = "at most ";
  const std::size_t at = refused.errors.find(before);
  ASSERT_NE(at, std::string::npos) << refused.errors;
  const double longest = std::stod(refused.errors.substr(at + before.size()));
  EXPECT_GT(longest, 1e-6);
  EXPECT_LT(longest, 0.02);
  const ProgramResult checked =
      command("check", {"--set", "time.method=explicit-rk", "--set", "time.step=0.02", "--set",
                        "time.end=0.05", "--set", "time.output_interval=0.05"});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_EQ(checked.errors, refused.errors);
  const ProgramResult stable = explicit_run(std::to_string(longest));
  EXPECT_EQ(stable.exit_code, 0) << stable.errors;
  EXPECT_EQ(explicit_run(std::to_string(1.1 * longest)).exit_code, 1);
}

TEST_F(TimeCommands, StepsThatBecomeUnstableAreRefused) {
  const auto explicit_run = [&](const std::string& coefficient, const std::string& capacity) {
    return command("run",
                   {"--overwrite", "--set", "time.method=explicit-rk", "--set", "time.step=0.001",
                    "--set", "time.end=0.4", "--set", "time.output_interval=0.4", "--set",
                    "problem.coefficient=" + coefficient, "--set", "problem.capacity=" + capacity});
  };
  EXPECT_EQ(explicit_run("1 + 0.1*t", "1").exit_code, 0);
  const ProgramResult growing = explicit_run("1 + 50*t", "1");
  EXPECT_EQ(growing.exit_code, 1);
  EXPECT_THAT(growing.errors, HasSubstr("on this mesh at t = 0.4, at most "));
  EXPECT_EQ(explicit_run("1", "1 - 2.4*t").exit_code, 1);
}

// Their squares would be 0, and steps be judged by them.
TEST_F(TimeCommands, SolutionsWithoutSquaresAreRefused) {
  const auto run_of_size = [&](const std::string& size) {
    return command("run", {"--overwrite", "--set", "problem.source=\"" + size + "\"", "--set",
                           "boundary.left.value=\"" + size + "\"", "--set",
                           "problem.exact=\"" + size + "*x\"", "--set", "output.picture=false"});
  };
  for (const char* size : {"1e-165", "1e165"}) {
    const ProgramResult refused = run_of_size(size);
    EXPECT_EQ(refused.exit_code, 1) << size;
    EXPECT_THAT(refused.errors, HasSubstr("problem: values and their changes are of size "));
  }
  for (const char* size : {"0", "1e-110", "1e110"}) EXPECT_EQ(run_of_size(size).exit_code, 0);
  const ProgramResult study =
      command("convergence", {"--set", "problem.source=\"1e-165\"", "--set",
                              "boundary.left.value=\"1e-165\"", "--levels", "2"});
  EXPECT_EQ(study.exit_code, 1);
  EXPECT_THAT(study.errors, HasSubstr("problem: values and their changes are of size "));
}

TEST_F(TimeCommands, CheckEvaluatesCapacityAndInitialValues) {
  const ProgramResult capacity = command("check", {"--set", "problem.capacity=x - 0.5"});
  EXPECT_EQ(capacity.exit_code, 1);
  EXPECT_THAT(capacity.errors, StartsWith("--set problem.capacity=x - 0.5: problem.capacity = "));
  EXPECT_THAT(capacity.errors, HasSubstr("it must be positive and finite"));
  const ProgramResult initial = command("check", {"--set", "time.initial=log(x - 0.1)"});
  EXPECT_EQ(initial.exit_code, 1);
  EXPECT_THAT(initial.errors, HasSubstr("time.initial = \"log(x - 0.1)\": is "));
}

TEST_F(TimeCommands, CheckLooksAtLaterTimes) {
  for (const auto& [setting, where] :
       {std::pair{"problem.coefficient=2-t", "problem.coefficient = \"2-t\": is 0 at t = 2"},
        {"problem.reaction=1-t", "problem.reaction = \"1-t\": is -0.5 at t = 1.5"},
        {"problem.source=1/(t-0.5)", "problem.source = \"1/(t-0.5)\": is inf at t = 0.5"},
        {"boundary.left.value=log(1.5-t)",
         "boundary.left.value = \"log(1.5-t)\": is -inf at "
         "t = 1.5"}}) {
    const ProgramResult checked = command("check", {"--set", setting});
    EXPECT_EQ(checked.exit_code, 1) << setting;
    EXPECT_THAT(checked.errors, HasSubstr(where));
  }
  const ProgramResult exact = command("check", {"--set", "problem.exact=sqrt(1-t)"});
  EXPECT_EQ(exact.exit_code, 0);
  EXPECT_THAT(exact.output, HasSubstr("note: problem.exact is "));
  EXPECT_THAT(exact.output, HasSubstr("at the start and 5 later times up to the end"));
}

// Times of output that differ by rounding are the same, however long the interval is.
TEST_F(TimeCommands, IntervalsMayBeLongerThanTheCase) {
  const ProgramResult ran = command("run", {"--set", "time.output_interval=1e30"});
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  const auto time = read_json(path() / "out/result.json")["time"];
  EXPECT_EQ(time["end"], 2.0);
  EXPECT_EQ(time["steps"], 16);
  EXPECT_EQ(time["outputs"], 2);
}

TEST_F(TimeCommands, ExplicitStepsHaveNoSolver) {
  const std::vector<std::string> settings = {"--set", "time.method=explicit-rk", "--set",
                                             "time.step=0.005"};
  const ProgramResult checked = command("check", settings);
  EXPECT_THAT(checked.output, HasSubstr("\nsolver none: explicit-rk solves no systems\n"));
  EXPECT_THAT(checked.output, Not(HasSubstr("preconditioner")));
  const ProgramResult ran = command("run", settings);
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("  solver    none: explicit-rk solves no systems\n"));
  const auto solver = read_json(path() / "out/result.json")["solver"];
  EXPECT_EQ(solver["method"], "none");
  EXPECT_EQ(solver["preconditioner"], "none");
}

// The rates of a column of a table, those that are lost left out.
std::vector<double> rates_in(const std::string& csv, std::size_t column) {
  std::vector<double> rates;
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::string cell;
    for (std::size_t i = 0; i <= column; ++i) std::getline(cells, cell, ',');
    if (!cell.empty()) rates.push_back(std::stod(cell));
  }
  return rates;
}

constexpr char kSwinging[] = R"toml(
title = "Swinging"
[mesh]
dimension = 2
cells = [2, 2]
[space]
degree = 7
[problem]
source = "sin(pi*x)*sin(pi*y)*(2*pi^2*cos(3*t) - 3*sin(3*t))"
exact = "sin(pi*x)*sin(pi*y)*cos(3*t)"
[time]
end = 0.8
step = 0.1
initial = "sin(pi*x)*sin(pi*y)"
output_interval = 0.4
[run]
device = "cpu"
threads = 1
)toml";

TEST_F(TimeCommands, ConvergenceFindsTheOrderOfEachMethod) {
  write_file(path() / "case.toml", kSwinging);
  constexpr std::size_t kRateL2 = 16;
  for (const auto& [method, order] : {std::pair{"backward-euler", 1}, {"sdirk", 2}, {"sdirk", 3}}) {
    const ProgramResult ran =
        command("convergence",
                {"--set", fmt::format("time.method={}", method), "--set",
                 fmt::format("time.order={}", order), "--levels", "3", "--csv", "rates.csv"});
    EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr(fmt::format("degree 7: expected rate {}\n", order)));
    EXPECT_THAT(ran.output, HasSubstr("as expected"));
    const std::vector<double> rates = rates_in(read_rows(path() / "rates.csv"), kRateL2);
    ASSERT_EQ(rates.size(), 2U) << ran.output;
    EXPECT_NEAR(rates[1], order, 0.3) << ran.output;
  }
}

TEST_F(TimeCommands, ConvergenceKnowsTheErrorInSpace) {
  write_file(path() / "case.toml", kSwinging);
  const ProgramResult ran = command("convergence", {"--degrees", "1,2", "--levels", "3", "--csv",
                                                    "rates.csv", "--report", "rates.html"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("the error in space or rounding has taken over"));
  EXPECT_THAT(read_file(path() / "rates.csv"),
              HasSubstr("\"space in l2, space in h1, space in largest_l2\""));
  EXPECT_THAT(read_file(path() / "rates.html"), HasSubstr("Convergence in time"));
  EXPECT_THAT(read_file(path() / "rates.html"), HasSubstr("Largest error in L2 of the outputs"));
}

// Its derivatives in space are rounding, which has no rate.
TEST_F(TimeCommands, ConvergenceTakesSolutionsThatAreConstantInSpace) {
  write_file(path() / "case.toml",
             "[mesh]\ndimension = 2\ncells = [1, 1]\n[problem]\n"
             "capacity = \"2 + sin(3*t)\"\nreaction = \"3 + cos(t)\"\nexact = \"cos(5*t)\"\n"
             "source = \"-5*(2 + sin(3*t))*sin(5*t) + (3 + cos(t))*cos(5*t)\"\n"
             "[boundary]\nleft = { type = \"neumann\" }\nright = { type = \"neumann\" }\n"
             "bottom = { type = \"neumann\" }\ntop = { type = \"neumann\" }\n"
             "[time]\nstart = 0.5\nend = 1.7\nstep = 0.05\ninitial = \"cos(2.5)\"\n");
  for (const char* method : {"explicit-rk", "sdirk"}) {
    const ProgramResult ran = command("convergence", {"--set", std::string("time.method=") + method,
                                                      "--set", "time.order=2", "--levels", "4"});
    EXPECT_EQ(ran.exit_code, 0) << method << ran.output << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr("rounding")) << method;
  }
}

TEST_F(TimeCommands, ConvergenceFindsAWrongExactSolution) {
  write_file(path() / "case.toml", kSwinging);
  const ProgramResult ran = command(
      "convergence", {"--levels", "4", "--set", "problem.exact=sin(pi*x)*sin(pi*y)*cos(3.01*t)"});
  EXPECT_EQ(ran.exit_code, 2) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("NOT the expected 3 in L2"));
  EXPECT_THAT(ran.errors, HasSubstr("the observed rate is not the expected one for degree 7"));
}

TEST_F(TimeCommands, ConvergenceGoesOnToStableSteps) {
  write_file(path() / "case.toml", kSwinging);
  const std::vector<std::string> of_explicit = {
      "--set", "time.method=explicit-rk", "--set", "time.order=4", "--degrees", "2"};
  std::vector<std::string> all = of_explicit;
  all.insert(all.end(), {"--levels", "8", "--set", "time.step=0.1", "--csv", "steps.csv"});
  const ProgramResult ran = command("convergence", all);
  EXPECT_THAT(ran.output, HasSubstr("is unstable with steps of this length"));
  EXPECT_GE(rates_in(read_rows(path() / "steps.csv"), 10).size(), 2U) << ran.output;
  std::vector<std::string> none = of_explicit;
  none.insert(none.end(), {"--levels", "2", "--set", "time.step=0.4"});
  const ProgramResult unstable = command("convergence", none);
  EXPECT_EQ(unstable.exit_code, 2) << unstable.output;
  EXPECT_THAT(unstable.errors, HasSubstr("nothing was measured"));
}

TEST_F(TimeCommands, ToleranceIsNotAbsoluteUnsaid) {
  write_file(path() / "case.toml",
             "[mesh]\ndimension = 2\ncells = [4, 3]\n[problem]\nsource = \"1e-7*sin(3*t)\"\n"
             "[time]\nend = 1\ntolerance = 1e-3\n[output]\ndirectory = \"out\"\n");
  constexpr char kComplaint[] =
      "time.absolute_tolerance = 0.001 allowed each step an error that is large beside u";
  const ProgramResult absolute = command("run", {"-q", "--overwrite"});
  EXPECT_EQ(absolute.exit_code, 0) << absolute.errors;
  EXPECT_THAT(absolute.errors, HasSubstr(kComplaint));
  EXPECT_THAT(read_json(path() / "out/result.json")["notes"].dump(), HasSubstr(kComplaint));
  EXPECT_THAT(read_file(path() / "out/case.toml"), Not(HasSubstr("absolute_tolerance")));
  const ProgramResult relative =
      command("run", {"--overwrite", "--set", "time.absolute_tolerance=1e-12"});
  EXPECT_EQ(relative.exit_code, 0) << relative.errors;
  EXPECT_THAT(relative.output, HasSubstr("steps by tolerance 0.001 (absolute 1e-12), "));
  EXPECT_EQ(read_json(path() / "out/result.json")["notes"].dump(), "[]");
  EXPECT_THAT(read_file(path() / "out/case.toml"), HasSubstr("absolute_tolerance = 1e-12\n"));
  const ProgramResult of_one_length = command(
      "run", {"--overwrite", "--set", "time.absolute_tolerance=1e-12", "--set", "time.step=0.5"});
  EXPECT_EQ(of_one_length.exit_code, 1);
  EXPECT_THAT(of_one_length.errors,
              HasSubstr("time.absolute_tolerance = 1e-12: must be left out with time.step = 0.5"));
}

TEST_F(TimeCommands, ConvergenceTakesTolerancesAndLimits) {
  write_file(path() / "case.toml", kSwinging);
  const ProgramResult adaptive =
      command("convergence", {"--levels", "2", "--set", "time.tolerance=1e-3"});
  EXPECT_EQ(adaptive.exit_code, 0) << adaptive.output << adaptive.errors;
  EXPECT_THAT(adaptive.output, HasSubstr("  0.001 "));
  EXPECT_THAT(adaptive.output, HasSubstr("  0.0001 "));
  EXPECT_THAT(adaptive.output, HasSubstr("the error follows the tolerance"));
  // Stability limits the steps, so that these are nearly the same.
  const ProgramResult stiff =
      command("convergence", {"--levels", "3", "--set", "time.tolerance=1e-3", "--set",
                              "time.method=explicit-rk", "--csv", "stiff.csv"});
  EXPECT_EQ(stiff.exit_code, 0) << stiff.output << stiff.errors;
  EXPECT_THAT(rates_in(read_rows(path() / "stiff.csv"), 16), ::testing::IsEmpty());
  const ProgramResult limited = command("convergence", {"--time-limit", "1e-9"});
  EXPECT_EQ(limited.exit_code, 0);
  EXPECT_THAT(limited.output, HasSubstr("left out: would take about "));
}

// The polynomials of bdf go through values before the jump, and no step after it is short enough.
TEST_F(TimeCommands, BdfBeginsAnewWhereABoundaryValueJumpsAtAnOutput) {
  write_file(path() / "case.toml",
             "[mesh]\ndimension = 2\ncells = [16, 1]\nspacing = [{ geometric = 1.2 }, "
             "\"uniform\"]\n[space]\ndegree = 3\n[boundary]\n"
             "left = { type = \"dirichlet\", value = \"t < 0.5 ? 0 : 1\" }\n"
             "right = { type = \"neumann\" }\nbottom = { type = \"neumann\" }\n"
             "top = { type = \"neumann\" }\n[time]\nend = 0.7\ntolerance = 1e-5\n"
             "method = \"bdf\"\n[output]\ndirectory = \"out\"\nvtk = false\n"
             "picture = false\nprobes = [[0.2, 0.5]]\n");
  for (const char* interval : {"0.1", "0.25"}) {
    const ProgramResult ran =
        command("run", {"--overwrite", "--set", fmt::format("time.output_interval={}", interval)});
    ASSERT_EQ(ran.exit_code, 0) << ran.errors;
    const std::string probes = read_file(path() / "out/probes.csv");
    const std::string last = probes.substr(probes.rfind("\n0.7,") + 5);
    // Of the series: 1 - sum of 4 / pi / k sin(k pi x / 2) exp(-k^2 pi^2 / 4 t), k = 1, 3, 5, ...
    EXPECT_NEAR(std::stod(last), 0.755752, 2e-5) << interval;
  }
}

// Of a source that is there for a hundredth of the time, steps of any tolerance may see nothing.
TEST_F(TimeCommands, NoStepIsLongerThanMaxStepSoThatPulsesAreSeen) {
  write_file(path() / "case.toml",
             "[mesh]\ndimension = 2\ncells = [2, 2]\n[problem]\n"
             "source = \"t > 5 && t < 5.1 ? 10 : 0\"\n[boundary]\n"
             "left = { type = \"neumann\" }\nright = { type = \"neumann\" }\n"
             "bottom = { type = \"neumann\" }\ntop = { type = \"neumann\" }\n[time]\nend = 10\n"
             "initial = \"1\"\n[output]\ndirectory = \"out\"\nvtk = false\npicture = false\n");
  for (const char* method : {"sdirk", "bdf", "explicit-rk"}) {
    const ProgramResult ran = command("run", {"--overwrite", "--set", "time.max_step=0.03", "--set",
                                              fmt::format("time.method={}", method)});
    ASSERT_EQ(ran.exit_code, 0) << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr("steps by tolerance 0.0001, at most 0.03 long"));
    const auto result = nlohmann::json::parse(read_file(path() / "out/result.json"));
    EXPECT_NEAR(result["solution"]["max"].get<double>(), 2.0, 1e-3) << method;
  }
  const ProgramResult refused =
      command("check", {"--set", "time.step=0.1", "--set", "time.max_step=0.2"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors,
              HasSubstr("time.max_step = 0.2: must be left out with time.step = 0.1: "
                        "all steps have that length"));
}

}  // namespace
}  // namespace tessera::testing
