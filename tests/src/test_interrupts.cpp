// These tests send signals to the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kNothingWritten[] = "tessera: interrupted before the solve: nothing is written\n";

void sleep_milliseconds(int n) { std::this_thread::sleep_for(std::chrono::milliseconds(n)); }

class Interrupts : public ::testing::Test {
 protected:
  Program start(const std::string& text, std::vector<std::string> more = {},
                const std::string& command = "run") {
    write_file(path() / "case.toml", text);
    more.insert(more.begin(), {command, "case.toml"});
    if (command == "run") more.insert(more.end(), {"--output", "results/out"});
    return {path(), more};
  }
  const std::filesystem::path& path() const { return directory_.path(); }
  std::filesystem::path out() const { return path() / "results/out"; }
  nlohmann::json result() const { return read_json(out() / "result.json"); }
  /// Whether solution.vtu is being written.
  bool has_temporary_file() const {
    const std::vector<std::string> names = names_in(out());
    return std::any_of(names.begin(), names.end(),
                       [](const std::string& name) { return name.starts_with(".solution.vtu."); });
  }
  void expect_nothing_written(const ProgramResult& ran) {
    EXPECT_EQ(ran.exit_code, 130) << ran.errors;
    EXPECT_EQ(ran.errors, kNothingWritten);
    EXPECT_FALSE(std::filesystem::exists(path() / "results"));
  }

 private:
  TemporaryDirectory directory_;
};

// Takes seconds before the solve.
std::string slow_load() {
  return "[mesh]\ncells = [48, 48, 48]\n[space]\ndegree = 3\n[problem]\nsource = \"" +
         long_expression(60) + "\"\n[run]\ndevice = \"cpu\"\nthreads = 1\n";
}

TEST_F(Interrupts, WhileTheLoadIsAssembled) {
  for (const int number : {SIGINT, SIGTERM}) {
    Program program = start(slow_load());
    ASSERT_TRUE(program.wait_for_output("  memory "));
    program.signal(number);
    expect_nothing_written(program.wait());
  }
}

TEST_F(Interrupts, BetweenTheLevelsOfAPreconditioner) {
  // Robin faces keep the mirror images apart: one dense eigenproblem with thousands of rows.
  Program program = start(
      "[mesh]\ndimension = 2\ncells = [2000, 500]\nspacing = [{ geometric = 1.001 }, "
      "{ geometric = 1.001 }]\n[problem]\nsource = \"1\"\n[space]\ndegree = 1\n"
      "[solver]\npreconditioner = \"fast-diagonalization\"\n[run]\ndevice = \"cpu\"\n");
  ASSERT_TRUE(program.wait_for_output("  memory "));
  sleep_milliseconds(500);
  program.signal(SIGINT);
  expect_nothing_written(program.wait());
}

// The exact solution takes seconds at the points of the norms, as it is no product.
std::string slow_evaluation() {
  return "[mesh]\ncells = [20, 20, 20]\n[space]\ndegree = 3\n[problem]\nsource = \"1\"\n"
         "exact = \"" +
         long_expression(150) +
         " + y\"\n[solver]\npreconditioner = \"fast-diagonalization\"\n[run]\ndevice = "
         "\"cpu\"\nthreads = 1\n";
}

TEST_F(Interrupts, WhileTheSolutionIsEvaluated) {
  Program program = start(slow_evaluation());
  ASSERT_TRUE(program.wait_for_errors("iteration 1 "));
  sleep_milliseconds(300);
  program.signal(SIGINT);
  // Some programs send a signal to a process and to its group: those are one.
  program.signal(SIGTERM);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(ran.exit_code, 130) << ran.errors;
  EXPECT_EQ(names_in(out()), (std::vector<std::string>{"case.toml", "residuals.csv", "result.json",
                                                       "solution.vtu", "timings.csv", "view.py"}));
  EXPECT_EQ(result()["solver"]["status"], "converged");
  EXPECT_GT(result()["solution"]["max"].get<double>(), 0.0);
  EXPECT_TRUE(result()["error"]["l2"].is_null());
  EXPECT_THAT(result()["notes"],
              Contains("error.l2 and error.h1_seminorm are not known: interrupted"));
  EXPECT_THAT(ran.errors, HasSubstr("tessera: error.l2 and error.h1_seminorm are not known: "
                                    "interrupted\n"));
  const std::string vtu = read_file(out() / "solution.vtu");
  EXPECT_THAT(vtu, HasSubstr("Name=\"solution\""));
  EXPECT_THAT(vtu, Not(HasSubstr("Name=\"exact\"")));
}

// A signal is obeyed within an iteration, and the last iterate is a result.
TEST_F(Interrupts, WhileNewtonIterates) {
  Program program = start(
      "[mesh]\ndimension = 2\ncells = [100, 100]\n[problem]\nsource = \"cos(u)*(" +
      long_expression(150) + ")\"\n[nonlinear]\nrelative_tolerance = 1e-15\n[run]\nthreads = 1\n");
  ASSERT_TRUE(program.wait_for_errors("newton: iteration 1 "));
  program.signal(SIGINT);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(ran.exit_code, 130) << ran.errors;
  EXPECT_EQ(result()["nonlinear"]["status"], "interrupted");
  EXPECT_GE(result()["nonlinear"]["iterations"], 1);
  EXPECT_GT(result()["solution"]["max"].get<double>(), 0.0);
  EXPECT_TRUE(std::filesystem::exists(out() / "solution.vtu"));
}

// Takes seconds to compress.
std::string slow_output() {
  return "[mesh]\ncells = [36, 36, 36]\n[space]\ndegree = 4\n[problem]\nsource = \"1\"\n"
         "[solver]\npreconditioner = \"fast-diagonalization\"\n[run]\ndevice = \"cpu\"\nthreads = "
         "1\n"
         "[output]\nvtk_precision = \"double\"\nvtk_compression = \"zlib\"\n";
}

TEST_F(Interrupts, WhileTheSolutionIsWritten) {
  Program program = start(slow_output());
  ASSERT_TRUE(program.wait_until([&] { return has_temporary_file(); }));
  program.signal(SIGINT);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(ran.exit_code, 130) << ran.errors;
  EXPECT_EQ(names_in(out()), (std::vector<std::string>{"case.toml", "residuals.csv", "result.json",
                                                       "solution.vtu", "timings.csv", "view.py"}));
  EXPECT_TRUE(result()["solver"]["converged"].get<bool>());
}

TEST_F(Interrupts, TheSecondSignalEndsAtOnceAndLeavesNothingHalfWritten) {
  Program program = start(slow_output());
  ASSERT_TRUE(program.wait_until([&] { return has_temporary_file(); }));
  program.signal(SIGINT);
  sleep_milliseconds(150);
  program.signal(SIGINT);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(ran.exit_code, 130);
  EXPECT_FALSE(std::filesystem::exists(path() / "results"));
}

TEST_F(Interrupts, WhatWasIgnoredAtTheStartStaysIgnored) {
  write_file(path() / "case.toml", slow_load());
  Program program(path(), {"run", "case.toml", "--output", "results/out"},
                  [] { std::signal(SIGINT, SIG_IGN); });
  ASSERT_TRUE(program.wait_for_output("  memory "));
  program.signal(SIGINT);
  sleep_milliseconds(200);
  program.signal(SIGTERM);
  expect_nothing_written(program.wait());
}

TEST_F(Interrupts, Check) {
  Program program = start(slow_load(), {}, "check");
  ASSERT_TRUE(program.wait_for_output("largest at a time"));
  program.signal(SIGINT);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(ran.exit_code, 130);
  EXPECT_EQ(ran.errors, "tessera: interrupted\n");
  EXPECT_THAT(ran.output, Not(HasSubstr("no error")));
}

TEST_F(Interrupts, ComparisonsKeepTheirRows) {
  const std::string study =
      "[study]\ndegrees = [2]\ndimensions = [3]\ndofs = [100000]\ngeometry = [\"uniform\"]\n"
      "repetitions = 1000\ntime_limit_s = 1.0\n";
  for (const char* solvers : {"", "solvers = [\"none\", \"multigrid\", \"jacobi\"]\n"}) {
    write_file(path() / "study.toml", study + solvers);
    Program program(path(), {"compare", "study.toml", "--csv", "rows.csv"});
    const std::string first = *solvers == '\0' ? "\n  csr " : "\n  none ";
    ASSERT_TRUE(program.wait_for_output(first));
    program.signal(SIGINT);
    EXPECT_EQ(program.wait().exit_code, 130);
    const std::string csv = read_file(path() / "rows.csv");
    EXPECT_THAT(csv, HasSubstr(*solvers == '\0' ? ",csr," : ",none,"));
    EXPECT_THAT(csv, Not(HasSubstr(*solvers == '\0' ? ",kronecker," : ",jacobi,")));
  }
}

}  // namespace
}  // namespace tessera::testing
