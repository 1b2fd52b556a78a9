// These tests run commands with a case in time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;
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

TEST_F(TimeCommands, CheckEvaluatesCapacityAndInitialValues) {
  const ProgramResult capacity = command("check", {"--set", "problem.capacity=x - 0.5"});
  EXPECT_EQ(capacity.exit_code, 1);
  EXPECT_THAT(capacity.errors, StartsWith("--set problem.capacity=x - 0.5: problem.capacity = "));
  EXPECT_THAT(capacity.errors, HasSubstr("it must be positive and finite"));
  const ProgramResult initial = command("check", {"--set", "time.initial=log(x - 0.1)"});
  EXPECT_EQ(initial.exit_code, 1);
  EXPECT_THAT(initial.errors, HasSubstr("time.initial = \"log(x - 0.1)\": is "));
}

TEST_F(TimeCommands, ConvergenceTakesStationaryCasesSoFar) {
  const ProgramResult refused = command("convergence");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.errors,
            "case.toml:12: time: tessera convergence takes cases without [time] only so far\n");
}

}  // namespace
}  // namespace tessera::testing
