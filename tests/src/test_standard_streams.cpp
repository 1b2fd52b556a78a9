// These tests run the program with closed, full and broken streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kCase[] =
    "title = \"a title\"\n[mesh]\ncells = [3, 2, 2]\n[problem]\nsource = \"1\"\n"
    "[output]\ndirectory = \"out\"\n";
constexpr char kFull[] = "tessera: cannot write to stdout: No space left on device\n";

void fill_stdout() { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); }
// A pipe with nobody at its other end.
void break_stdout() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) _exit(127);
  dup2(ends[1], STDOUT_FILENO);
  close(ends[0]);
  close(ends[1]);
}
void close_both() {
  close(STDOUT_FILENO);
  close(STDERR_FILENO);
}

class StandardStreams : public ::testing::Test {
 protected:
  void SetUp() override { write_file(path() / "case.toml", kCase); }
  ProgramResult start(const std::vector<std::string>& arguments,
                      const std::function<void()>& prepare) {
    return run_program(path(), arguments, prepare);
  }
  void expect_results() const {
    EXPECT_EQ(names_in(path() / "out").size(), 7U);
    EXPECT_EQ(read_json(path() / "out/result.json")["title"], "a title");
  }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(StandardStreams, ARunDoesNotNeedThem) {
  const ProgramResult full = start({"run", "case.toml"}, fill_stdout);
  EXPECT_EQ(full.exit_code, 0);
  EXPECT_THAT(full.errors, ::testing::EndsWith(kFull));
  expect_results();
  // As by `| head`.
  const ProgramResult broken = start({"run", "case.toml", "--overwrite"}, break_stdout);
  EXPECT_EQ(broken.exit_code, 0);
  EXPECT_THAT(broken.errors, Not(HasSubstr("stdout")));
  expect_results();
  const ProgramResult both = start({"run", "case.toml", "--overwrite"}, [] {
    fill_stdout();
    dup2(STDOUT_FILENO, STDERR_FILENO);
  });
  EXPECT_EQ(both.exit_code, 0);
  expect_results();
}

TEST_F(StandardStreams, FilesDoNotTakeTheNumbersOfClosedOnes) {
  const ProgramResult ran = start({"run", "case.toml"}, close_both);
  EXPECT_EQ(ran.exit_code, 0);
  expect_results();
  for (const std::string& name : names_in(path() / "out")) {
    const std::string content = read_file(path() / "out" / name);
    EXPECT_THAT(content, Not(HasSubstr("solve: iteration"))) << name;
    EXPECT_THAT(content, Not(HasSubstr("Results are in"))) << name;
  }
}

TEST_F(StandardStreams, ALostLineDoesNotHideThatTheSolverDidNotConverge) {
  EXPECT_EQ(start({"run", "case.toml", "--set", "solver.max_iterations=1", "--set",
                   "solver.preconditioner=none"},
                  fill_stdout)
                .exit_code,
            2);
  expect_results();
}

TEST_F(StandardStreams, WhereTheyAreAllThereIsTheExitCodeTells) {
  const std::vector<std::vector<std::string>> commands = {
      {"list"},   {"defaults"}, {"defaults", "--reference"}, {"check", "case.toml"}, {"info"},
      {"--help"}, {"--version"}};
  for (const auto& command : commands) {
    const ProgramResult full = start(command, fill_stdout);
    EXPECT_EQ(full.exit_code, 3) << command[0];
    EXPECT_EQ(full.errors, kFull) << command[0];
    const ProgramResult broken = start(command, break_stdout);
    EXPECT_EQ(broken.exit_code, 1000 + SIGPIPE) << command[0];
    EXPECT_EQ(broken.errors, "") << command[0];
  }
  const ProgramResult closed = start({"list"}, [] { close(STDOUT_FILENO); });
  EXPECT_EQ(closed.exit_code, 3);
  EXPECT_EQ(closed.errors, "tessera: cannot write to stdout: Bad file descriptor\n");
}

TEST_F(StandardStreams, AComparisonNeedsThemUnlessItHasAFile) {
  write_file(path() / "study.toml",
             "[study]\ndegrees = [1]\ndimensions = [2]\ndofs = [500]\ngeometry = [\"uniform\"]\n"
             "scatters = [\"serial\"]\napplications = 1\nrepetitions = 1\n");
  EXPECT_EQ(start({"compare", "study.toml"}, fill_stdout).exit_code, 3);
  EXPECT_EQ(start({"compare", "study.toml"}, break_stdout).exit_code, 1000 + SIGPIPE);
  for (const auto& prepare : {fill_stdout, break_stdout}) {
    std::filesystem::remove(path() / "rows.csv");
    EXPECT_EQ(start({"compare", "study.toml", "--csv", "rows.csv"}, prepare).exit_code, 0);
    EXPECT_THAT(read_file(path() / "rows.csv"), HasSubstr("agrees"));
  }
}

}  // namespace
}  // namespace tessera::testing
