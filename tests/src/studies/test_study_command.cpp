// These tests run `tessera study` as a user does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "src/studies/studies.hpp"
#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

class StudyProgram : public ::testing::Test {
 protected:
  ProgramResult study(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "study");
    return run_program(path(), arguments);
  }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(StudyProgram, WithoutANameListsTheStudies) {
  const ProgramResult listed = study({});
  EXPECT_EQ(listed.exit_code, 0) << listed.errors;
  EXPECT_EQ(listed.output, study_list());
}

TEST_F(StudyProgram, WritesRowsAndClaims) {
  const ProgramResult ran = study({"synchronization", "--quick", "--updates", "100", "--only",
                                   "nothing,mutex", "--threads", "1,4000", "--csv", "rows.csv"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(ran.errors, "");
  EXPECT_THAT(ran.output, HasSubstr("S5 holds if"));
  EXPECT_THAT(ran.output, HasSubstr("the claims are in rows_claims.csv"));
  EXPECT_THAT(read_file(path() / "rows.csv"),
              HasSubstr("# command: tessera study synchronization --quick --updates 100 --only "
                        "nothing,mutex --threads 1,4000 --csv rows.csv\n"));
  std::istringstream rows(read_rows(path() / "rows.csv"));
  std::string line;
  std::getline(rows, line);
  EXPECT_EQ(line,
            "study,variant,device,machine,threads,part,k,q,m,table,runs,median_s,q1_s,q3_s,min_s,"
            "failed_percent,actual_percent,conflict_percent,capacity_percent,other_percent,"
            "billion_updates_per_s,wrong");
  std::getline(rows, line);
  EXPECT_TRUE(line.starts_with("synchronization,nothing,cpu,")) << line;
  EXPECT_THAT(read_rows(path() / "rows.csv"),
              HasSubstr(",4000,contention,,1,,,0" + std::string(11, ',') + "not measured: "));
  EXPECT_TRUE(read_rows(path() / "rows_claims.csv")
                  .starts_with("study,number,claim,document,rule,here,verdict\n"
                               "synchronization,S1,"));
  // A report takes both.
  const ProgramResult reported =
      run_program(path(), {"report", "rows.csv", "rows_claims.csv", "-o", "page.html"});
  EXPECT_EQ(reported.exit_code, 0) << reported.errors;
  EXPECT_THAT(read_file(path() / "page.html"), HasSubstr("a transaction is about three times"));
}

TEST_F(StudyProgram, MistakesAreNamedAndNothingIsWritten) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{"synchronisation"}, "did you mean synchronization?"},
      {{"synchronization", "--only", "mutexes"}, "did you mean mutex?"},
      {{"synchronization", "--update", "3"}, "did you mean --updates?"},
      {{"synchronization", "--updates", "many"}, "must be a whole number"},
      {{"synchronization", "--repetitions", "4"}, "--repetitions"},
      {{"synchronization", "--threads", "0"}, "--threads"},
      {{"synchronization", "--device", "tpu"}, "--device"},
      {{"block-scheduling", "--case", "nofile.toml"}, "--case: does nothing"},
      {{"synchronization", "--csv", "nowhere/rows.csv"}, "--csv nowhere/rows.csv"},
      {{"--updates", "3"}, "3"}};
  for (const auto& [arguments, message] : mistakes) {
    const ProgramResult ran = study(arguments);
    EXPECT_EQ(ran.exit_code, 1) << message;
    EXPECT_THAT(ran.errors, HasSubstr(message));
    EXPECT_LE(std::count(ran.errors.begin(), ran.errors.end(), '\n'), 2) << ran.errors;
    EXPECT_EQ(ran.output, "");
  }
  EXPECT_EQ(names_in(path()), (std::vector<std::string>{"stderr.txt", "stdout.txt"}));
}

TEST_F(StudyProgram, ReplacesNoFileThatIsNotItsOwn) {
  write_file(path() / "rows_claims.csv", "mine\n");
  const std::vector<std::string> quick = {"synchronization", "--quick", "--updates", "100",
                                          "--only",          "nothing", "--threads", "1",
                                          "--csv",           "rows.csv"};
  const ProgramResult refused = study(quick);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("the claims of --csv rows_claims.csv: "));
  EXPECT_EQ(read_file(path() / "rows_claims.csv"), "mine\n");
  std::filesystem::remove(path() / "rows_claims.csv");
  EXPECT_EQ(study(quick).exit_code, 0);
  EXPECT_EQ(study(quick).exit_code, 0);
}

TEST_F(StudyProgram, AMissingGpuIsOneLine) {
  const ProgramResult ran = run_program(path(), {"study", "synchronization", "--device", "cuda"},
                                        [] { setenv("CUDA_VISIBLE_DEVICES", "", 1); });
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(std::count(ran.errors.begin(), ran.errors.end(), '\n'), 1) << ran.errors;
}

TEST_F(StudyProgram, AnInterruptedStudyKeepsItsRows) {
  Program program(path(), {"study", "synchronization", "--updates", "1000", "--time-limit", "1",
                           "--repetitions", "1000000", "--only", "mutex", "--csv", "rows.csv"});
  ASSERT_TRUE(program.wait_for_output("\n  mutex ")) << program.errors();
  program.signal(SIGINT);
  const ProgramResult ran = program.wait();
  EXPECT_EQ(ran.exit_code, 130) << ran.errors;
  EXPECT_THAT(read_rows(path() / "rows.csv"), HasSubstr("\nsynchronization,mutex,cpu,"));
  EXPECT_FALSE(std::filesystem::exists(path() / "rows_claims.csv"));
}

}  // namespace
}  // namespace tessera::testing
