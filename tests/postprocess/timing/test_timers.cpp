// These tests time parts under a clock of their own.
#include <gtest/gtest.h>

#include <stdexcept>

#include "postprocess/timing/timer_report.hpp"
#include "postprocess/timing/timers.hpp"

namespace tessera {
namespace {

class Timers : public ::testing::Test {
 protected:
  double now = 100.0;
  TimerTree timers{[this] { return now; }};

  void run_typical() {
    {
      auto setup = timers.scope("setup");
      now += 1.0;
      auto mesh = timers.scope("mesh");
      now += 2.0;
    }
    auto solve = timers.scope("solve");
    for (const double seconds : {0.5, 0.25, 1.25}) {
      auto apply = timers.scope("apply");
      now += seconds;
    }
    now += 4.0;
  }
};

TEST_F(Timers, NestAndCount) {
  run_typical();
  now += 1.0;
  EXPECT_DOUBLE_EQ(timers.seconds("setup"), 3.0);
  EXPECT_DOUBLE_EQ(timers.seconds("setup/mesh"), 2.0);
  EXPECT_DOUBLE_EQ(timers.seconds("solve"), 6.0);
  EXPECT_DOUBLE_EQ(timers.seconds("mesh"), 0.0);
  EXPECT_DOUBLE_EQ(timers.elapsed(), 10.0);
  const auto parts = timers.parts();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].name, "solve");
  EXPECT_EQ(parts[1].depth, 0);
  const auto& apply = parts[1].children.at(0);
  EXPECT_EQ(apply.calls, 3);
  EXPECT_EQ(apply.depth, 1);
  EXPECT_DOUBLE_EQ(apply.total, 2.0);
  EXPECT_DOUBLE_EQ(apply.min, 0.25);
}

TEST_F(Timers, CloseWhenAnExceptionPasses) {
  EXPECT_THROW(
      {
        auto outer = timers.scope("outer");
        auto inner = timers.scope("inner");
        now += 1.0;
        throw std::runtime_error("x");
      },
      std::runtime_error);
  auto next = timers.scope("next");
  EXPECT_DOUBLE_EQ(timers.seconds("outer/inner"), 1.0);
  EXPECT_EQ(timers.parts().size(), 2u);
}

TEST_F(Timers, ThatStillRunCountUntilNow) {
  auto solve = timers.scope("solve");
  now += 3.0;
  EXPECT_DOUBLE_EQ(timers.seconds("solve"), 3.0);
  EXPECT_EQ(timers.parts().at(0).calls, 1);
}

TEST_F(Timers, ResumedPartsHaveTheirTimeInOneCall) {
  {
    auto setup = timers.scope("setup");
    now += 3.0;
  }
  {
    auto setup = timers.resume("setup");
    auto apply = timers.scope("operator");
    now += 2.0;
  }
  const auto parts = timers.parts();
  EXPECT_EQ(parts.at(0).calls, 1);
  EXPECT_DOUBLE_EQ(parts.at(0).total, 5.0);
  EXPECT_DOUBLE_EQ(parts.at(0).min, 5.0);
  EXPECT_EQ(parts.at(0).children.at(0).calls, 1);
  EXPECT_THROW(static_cast<void>(timers.resume("solve")), std::invalid_argument);
}

TEST_F(Timers, AddTimesTakenElsewhere) {
  {
    auto solve = timers.scope("solve");
    timers.add("apply/scatter", 10, 2.0, 0.1);
    timers.add("apply/scatter", 5, 2.0, 0.3);
  }
  const auto parts = timers.parts();
  const auto& scatter = parts.at(0).children.at(0).children.at(0);
  EXPECT_EQ(scatter.calls, 15);
  EXPECT_DOUBLE_EQ(scatter.total, 4.0);
  EXPECT_DOUBLE_EQ(scatter.min, 0.1);
}

TEST_F(Timers, RefuseNamesThatWouldMixUpPaths) {
  EXPECT_THROW(static_cast<void>(timers.scope("a/b")), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(timers.scope("")), std::invalid_argument);
}

TEST_F(Timers, TableShowsSharesAndRates) {
  timers.set_work("solve/apply", {2e6, 4e9, 2e9});
  timers.set_work("never/ran", {1.0, 1.0});
  run_typical();
  now += 1.0;
  EXPECT_EQ(timer_table(timers, {12e9, 4e9}),
            "part     calls   total    mean   of run         DoFs      bytes  of limit  by\n"
            "solve        1  6.00 s  6.00 s   60.0 %\n"
            "  apply      3  2.00 s  667 ms   20.0 %  3.00 MDoF/s  6.00 GB/s    75.0 %  fma\n"
            "setup        1  3.00 s  3.00 s   30.0 %\n"
            "  mesh       1  2.00 s  2.00 s   20.0 %\n"
            "run             10.0 s          100.0 %\n");
}

TEST_F(Timers, TableHasNoColumnsWithoutWork) {
  run_typical();
  const std::string table = timer_table(timers, {12e9});
  EXPECT_EQ(table.find("DoFs"), std::string::npos);
  EXPECT_EQ(table.find("of limit"), std::string::npos);
}

TEST_F(Timers, CsvHasFullPaths) {
  run_typical();
  now += 1.0;
  timers.set_work("solve/apply", {2e6, 4e9});
  EXPECT_EQ(timer_csv(timers, {0.0}),
            "part,calls,total_s,mean_s,min_s,share,dofs_per_s,gbytes_per_s,bandwidth_share,"
            "gflops_per_s,limit_share,limit\n"
            "setup,1,3,3,3,0.3,,,,,,\n"
            "setup/mesh,1,2,2,2,0.2,,,,,,\n"
            "solve,1,6,6,6,0.6,,,,,,\n"
            "solve/apply,3,2,0.666667,0.25,0.2,3e+06,6,,,,\n");
  timers.set_work("solve/apply", {2e6, 4e9, 1e9});
  EXPECT_NE(timer_csv(timers, {12e9, 100e9}).find("3e+06,6,0.5,1.5,0.5,copy\n"), std::string::npos);
}

TEST_F(Timers, JsonNests) {
  run_typical();
  timers.set_work("solve/apply", {2e6, 4e9, 1e9});
  const auto json = timer_json(timers, {12e9, 100e9});
  EXPECT_DOUBLE_EQ(json.at("elapsed_s"), 9.0);
  const auto& apply = json.at("parts").at(1).at("parts").at(0);
  EXPECT_EQ(apply.at("name"), "apply");
  EXPECT_EQ(apply.at("calls"), 3);
  EXPECT_DOUBLE_EQ(apply.at("gbytes_per_s"), 6.0);
  EXPECT_DOUBLE_EQ(apply.at("dofs_per_s"), 3e6);
  EXPECT_DOUBLE_EQ(apply.at("gflops_per_s"), 1.5);
  EXPECT_EQ(apply.at("limit"), "copy");
  EXPECT_DOUBLE_EQ(apply.at("limit_share"), 0.5);
}

}  // namespace
}  // namespace tessera
