// These tests compare the model of a multiprocessor with what the document and its check by hand
// say of it.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "src/studies/finishing_time/schedule_search.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

constexpr auto kFair = Fairness::by_repetition;

TEST(FinishingTime, TheExampleOfTheDocumentHas64Threads) {
  const WarpProgram program = WarpProgram::of_threads(64, 1);
  EXPECT_EQ(program.warps, 4);
  EXPECT_EQ(formula_cycles(program), 14);
  EXPECT_EQ(search_schedules(program, kFair), (ScheduleRange{.worst = 14, .best = 13}));
  EXPECT_EQ(warp_after_warp_cycles(program), 14);
  EXPECT_EQ(formula_cycles(WarpProgram::of_threads(64, 2)), 22);
  EXPECT_EQ(formula_cycles(WarpProgram::of_threads(64, 3)), 30);
  EXPECT_EQ(WarpProgram::of_threads(65, 1).warps, 5);
}

// Every instruction of a single warp waits for the one before.
TEST(FinishingTime, OneWarpTakesACycleAnInstruction) {
  for (int r = 1; r <= kLargestSearch; ++r) {
    const WarpProgram program{.warps = 1, .repetitions = r};
    EXPECT_EQ(search_schedules(program, kFair),
              (ScheduleRange{.worst = 3 * r + 2, .best = 3 * r + 2}));
    EXPECT_EQ(warp_after_warp_cycles(program), 3 * r + 2);
    EXPECT_EQ(formula_cycles(program) < 3 * r + 2, r > 1);
    EXPECT_EQ(safe_cycles(program), 3 * r + 2);
  }
}

TEST(FinishingTime, TheFormulaIsExactForSeveralWarpsThatAreServedFairly) {
  for (int warps = 2; warps <= 6; ++warps) {
    for (int r = 1; r <= 5 && warps * r <= kLargestSearch; ++r) {
      const WarpProgram program{.warps = warps, .repetitions = r};
      const int formula = formula_cycles(program);
      EXPECT_EQ(search_schedules(program, kFair),
                (ScheduleRange{.worst = formula, .best = formula - 1}))
          << warps << " warps, " << r << " repetitions";
      EXPECT_EQ(warp_after_warp_cycles(program), formula);
    }
  }
}

TEST(FinishingTime, WithoutFairnessTheFormulaFailsAndTheSafeBoundHolds) {
  const auto worst = [](int warps, int r) {
    return search_schedules({.warps = warps, .repetitions = r}, Fairness::none).worst;
  };
  EXPECT_EQ(worst(3, 2), 18);
  EXPECT_EQ(formula_cycles({.warps = 3, .repetitions = 2}), 17);
  EXPECT_EQ(worst(2, 3), 17);
  EXPECT_EQ(formula_cycles({.warps = 2, .repetitions = 3}), 16);
  for (int warps = 1; warps <= 6; ++warps) {
    for (int r = 1; r <= 4 && warps * r <= kLargestSearch; ++r) {
      EXPECT_LE(worst(warps, r), safe_cycles({.warps = warps, .repetitions = r}));
      EXPECT_GE(worst(warps, r), search_schedules({.warps = warps, .repetitions = r}, kFair).worst);
    }
  }
}

TEST(FinishingTime, RefusesWhatCannotBeSearched) {
  for (const WarpProgram program :
       {WarpProgram{.warps = 0, .repetitions = 1}, WarpProgram{.warps = 1, .repetitions = 0},
        WarpProgram{.warps = 19, .repetitions = 1}, WarpProgram{.warps = 10, .repetitions = 2}}) {
    EXPECT_THROW((void)search_schedules(program, kFair), std::invalid_argument);
  }
}

StudyTable searched(const std::vector<std::string>& own) {
  const StudyInfo& study = find_study("finishing-time");
  StudyRecord record(study, options_of("finishing-time", own), "a CPU", Verbosity::quiet);
  study.measure(record);
  EXPECT_EQ(record.wrong_rows(), 0) << record.csv();
  return record.table();
}

TEST(FinishingTimeStudy, FindsTheCounterexamplesOfTheConjecture) {
  const StudyTable table = searched({});
  EXPECT_EQ(table.rows().size(), 60U);
  EXPECT_EQ(verdict("finishing-time", "F1", table), "holds");
  EXPECT_EQ(verdict("finishing-time", "F2", table), "holds");
  EXPECT_EQ(verdict("finishing-time", "F3", table), "does not hold");
  EXPECT_EQ(verdict("finishing-time", "F4", table), "holds");
  EXPECT_EQ(found("finishing-time", "F3", table).here,
            "22 of 50 rows exceed it; fair schedule, 16 threads, 2 repetitions: 8 > 7");
}

TEST(FinishingTimeStudy, WhatIsTooLargeToBeSearchedHasBoundsOnly) {
  const StudyTable table = searched({"--threads-per-sm", "2048", "--rep", "1000"});
  const StudyRow& row =
      table.at("fair", 1,
               texts_in(table.layout().parameters, {{"n", "2048"}, {"W", "128"}, {"rep", "1000"}}));
  EXPECT_EQ(table.metric(row, "formula"), 128 * 2001 + 2);
  EXPECT_THROW((void)table.metric(row, "worst"), NotMeasured);
  for (const char* const claim : {"F1", "F3", "F4"}) {
    EXPECT_TRUE(verdict("finishing-time", claim, table).starts_with("not measured: ")) << claim;
  }
}

}  // namespace
}  // namespace tessera::testing
