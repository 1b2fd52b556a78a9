// These tests time parts on several ranks, each under a clock of its own.
#include <gtest/gtest.h>

#include "postprocess/timing/rank_times.hpp"
#include "postprocess/timing/timer_report.hpp"
#include "solvers/ranks/thread_ranks.hpp"

namespace tessera {
namespace {

// Rank r takes 2 + r seconds for set-up, 1 for each of 3 applications, and what only some do.
class RankClock {
 public:
  explicit RankClock(int rank) {
    {
      auto setup = timers.scope("setup");
      now += 2.0 + rank;
    }
    auto solve = timers.scope("solve");
    timers.set_work("solve/apply", {6e6, 12e9});
    for (int n = 0; n < 3; ++n) {
      auto apply = timers.scope("apply");
      now += 1.0;
    }
    if (rank == 0) {
      auto write = timers.scope("write");
      now += 3.0;
    }
    if (rank == 2) {
      auto wait = timers.scope("wait");
      now += 4.0;
    }
  }

  double now = 0.0;
  TimerTree timers{[this] { return now; }};
};

void on_ranks(int count, const std::function<void(const RankTimes&)>& check) {
  run_on_threads(count, [&](const Communicator& ranks) {
    const RankClock clock(ranks.rank());
    check(gather_times(clock.timers, ranks));
  });
}

void expect_spread(const RankTimes& times, const char* path, const RankSpread& expected) {
  const RankSpread* const spread = times.find(path);
  ASSERT_NE(spread, nullptr) << path;
  EXPECT_DOUBLE_EQ(spread->min, expected.min) << path;
  EXPECT_DOUBLE_EQ(spread->mean, expected.mean) << path;
  EXPECT_DOUBLE_EQ(spread->max, expected.max) << path;
}

TEST(RankTimes, OfOneRankAreItsOwn) {
  const RankClock clock(0);
  const RankTimes times = gather_times(clock.timers, single_rank());
  EXPECT_EQ(times.ranks, 1);
  EXPECT_TRUE(times.spreads.empty());
  const MachineRates rates{12e9};
  EXPECT_EQ(timer_table(times, rates), timer_table(clock.timers, rates));
  EXPECT_EQ(timer_csv(times, rates), timer_csv(clock.timers, rates));
  EXPECT_EQ(timer_json(times, rates), timer_json(clock.timers, rates));
  EXPECT_EQ(timer_table(times, rates).find("spread"), std::string::npos);
}

TEST(RankTimes, AreMergedByName) {
  on_ranks(3, [](const RankTimes& times) {
    EXPECT_EQ(times.ranks, 3);
    // Rank 2: 4 + 3 + 4.
    EXPECT_DOUBLE_EQ(times.elapsed, 11.0);
    expect_spread(times, "setup", {2.0, 3.0, 4.0});
    expect_spread(times, "solve", {3.0, 16.0 / 3.0, 7.0});
    expect_spread(times, "solve/apply", {3.0, 3.0, 3.0});
    expect_spread(times, "solve/write", {0.0, 1.0, 3.0});
    expect_spread(times, "solve/wait", {0.0, 4.0 / 3.0, 4.0});
    EXPECT_EQ(times.find("solve/wait/never"), nullptr);
    ASSERT_EQ(times.parts.size(), 2U);
    const TimerTree::Part& solve = times.parts[1];
    EXPECT_EQ(solve.name, "solve");
    EXPECT_DOUBLE_EQ(solve.total, 7.0);
    ASSERT_EQ(solve.children.size(), 3U);
    EXPECT_EQ(solve.children[0].calls, 3);
    EXPECT_EQ(solve.children[2].name, "wait");
    EXPECT_EQ(solve.children[2].depth, 1);
    EXPECT_DOUBLE_EQ(solve.children[0].work.dofs, 6e6);
  });
}

TEST(RankTimes, TableHasASpreadWhereRanksDiffer) {
  on_ranks(3, [](const RankTimes& times) {
    EXPECT_EQ(timer_table(times, {}),
              "part     calls   total    mean   of run         DoFs      bytes  spread\n"
              "setup        1  4.00 s  4.00 s   36.4 %                            1.33\n"
              "solve        1  7.00 s  7.00 s   63.6 %                            1.31\n"
              "  apply      3  3.00 s  1.00 s   27.3 %  6.00 MDoF/s  12.0 GB/s\n"
              "  write      1  3.00 s  3.00 s   27.3 %                            3.00\n"
              "  wait       1  4.00 s  4.00 s   36.4 %                            3.00\n"
              "run             11.0 s          100.0 %\n");
  });
}

TEST(RankTimes, TableHasNoSpreadWhereAllTakeAsLong) {
  run_on_threads(2, [](const Communicator& ranks) {
    double now = 0.0;
    TimerTree timers([&] { return now; });
    {
      auto solve = timers.scope("solve");
      now += ranks.rank() == 0 ? 1.0 : 1.2;
    }
    const RankTimes times = gather_times(timers, ranks);
    EXPECT_EQ(timer_table(times, {}).find("spread"), std::string::npos);
    EXPECT_DOUBLE_EQ(timer_json(times, {}).at("elapsed_s"), 1.2);
  });
}

TEST(RankTimes, CsvAndJsonHaveThem) {
  on_ranks(3, [](const RankTimes& times) {
    const std::string csv = timer_csv(times, {});
    EXPECT_NE(csv.find(",limit_share,limit,rank_min_s,rank_mean_s\n"), std::string::npos) << csv;
    EXPECT_NE(csv.find("\nsetup,1,4,4,4,0.363636,,,,,,,2,3\n"), std::string::npos) << csv;
    const nlohmann::json json = timer_json(times, {});
    const nlohmann::json& wait = json.at("parts").at(1).at("parts").at(2);
    EXPECT_EQ(wait.at("name"), "wait");
    EXPECT_EQ(wait.at("ranks").at("min_s"), 0.0);
    EXPECT_EQ(wait.at("ranks").at("max_s"), 4.0);
    EXPECT_DOUBLE_EQ(wait.at("ranks").at("mean_s"), 4.0 / 3.0);
  });
}

}  // namespace
}  // namespace tessera
