// These tests read lines about a run in time under a clock of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "postprocess/files/time_progress.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class TimeProgressLines : public ::testing::Test {
 protected:
  double now = 0.0;
  std::ostringstream out;
  const ProgressClock clock = [this] { return now; };
};

TEST_F(TimeProgressLines, SayHowFarItIsAndWhenItEnds) {
  TimeProgress progress(out, ProgressMode::plain, {1.0, 3.0, 0}, clock);
  now = 2.0;
  progress.update(1.5, 12, 7);
  EXPECT_EQ(out.str(), "time: t = 1.5 of 3, step 12, 7 iterations, 25.0 %, ETA 6.00 s\n");
  now = 8.0;
  progress.update(3.0, 13, 1);
  EXPECT_THAT(out.str(), HasSubstr("time: t = 3 of 3, step 13, 1 iteration, 100.0 %, ETA 0 s\n"));
}

TEST_F(TimeProgressLines, ForetellTheEndFromTheLastSteps) {
  TimeProgress progress(out, ProgressMode::plain, {0.0, 1.0, 0}, clock);
  int step = 0;
  for (; step < 1000; ++step) progress.update(1e-9 * step, step, 1);
  now = 90.0;  // the first line but one
  progress.update(1e-6, step++, 1);
  EXPECT_THAT(out.str(), Not(HasSubstr("ETA 0")));
  for (int i = 0; i < 200; ++i) {
    now += 1.0;
    progress.update(1e-6 + 0.001 * i, step++, 1);
  }
  const std::string text = out.str();
  const std::string last = text.substr(text.rfind("time:"));
  EXPECT_THAT(last, ::testing::MatchesRegex("time: t = 0.1[78].* of 1, .* %, ETA 13 min .*\n"));
}

TEST_F(TimeProgressLines, ForetellNothingWithoutTime) {
  TimeProgress progress(out, ProgressMode::plain, {0.0, 1.0, 0}, clock);
  progress.update(0.5, 1, 4);
  EXPECT_EQ(out.str(), "time: t = 0.5 of 1, step 1, 4 iterations, 50.0 %\n");
}

TEST_F(TimeProgressLines, LiveLinesAreClearedAtTheEnd) {
  {
    TimeProgress progress(out, ProgressMode::live, {0.0, 1.0, 30}, clock);
    now = 1.0;
    progress.update(0.5, 1, 4);
  }
  EXPECT_EQ(out.str(), "\r\x1b[Ktime: t = 0.5 of 1, step 1, 4\r\x1b[K");
}

TEST_F(TimeProgressLines, SilentWritesNothing) {
  TimeProgress progress(out, ProgressMode::silent, {0.0, 1.0, 0}, clock);
  now = 1.0;
  progress.update(0.5, 1, 4);
  progress.finish();
  EXPECT_THAT(out.str(), IsEmpty());
}

}  // namespace
}  // namespace tessera
