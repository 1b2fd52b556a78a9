// These tests judge programs, blocks and kernels that nobody ran against their bounds.
#include <gtest/gtest.h>

#include "src/studies/finishing_time/gpu_bounds.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

TEST(GrahamBound, IsReachedByTheWorstSequence) {
  // Two slots, short blocks first: 1 1 | 2.
  const std::vector<double> seconds = {1.0, 1.0, 2.0};
  EXPECT_DOUBLE_EQ(graham_bound(seconds, 2.0), 3.0);
  EXPECT_DOUBLE_EQ(graham_bound(seconds, 1.0), 4.0);
}

TEST(ProgramBound, CountsWhatUnitsDoAndOneWarp) {
  // As the model has it: a load or store a cycle, two multiply-adds a cycle.
  EXPECT_DOUBLE_EQ(program_bound(4, 1, 1.0, 0.5, 5.0), 4 * 3 + 4 * 2 * 0.5 + 5.0);
  EXPECT_DOUBLE_EQ(program_bound(1, 2, 2.0, 0.25, 0.0), 5 * 2.0 + 3 * 0.25);
}

StudyTable rows(const char* variant, const char* metric, const std::vector<double>& values) {
  const StudyLayout& layout = find_study("finishing-time").layout;
  StudyTable table(layout);
  for (const double value : values) {
    table.add({.variant = variant,
               .part = variant,
               .parameters = texts_in(layout.parameters, {}),
               .metrics = cells_in(layout.metrics, {{metric, value}})});
  }
  table.add({.variant = variant,
             .part = variant,
             .parameters = texts_in(layout.parameters, {}),
             .not_measured = "does not fit"});
  return table;
}

TEST(FinishingTimeClaims, JudgeBoundsOnTheGpu) {
  struct Row {
    const char* claim;
    const char* variant;
    const char* metric;
  };
  for (const Row& row : {Row{"F5", kProgram, "of_bound"}, Row{"F6", kKernel, "of_upper"}}) {
    const auto of = [&](const std::vector<double>& values) {
      return found("finishing-time", row.claim, rows(row.variant, row.metric, values));
    };
    EXPECT_EQ(of({0.4, 1.0}).text(), "holds");
    EXPECT_EQ(of({0.4, 1.01}).text(), "does not hold");
    EXPECT_EQ(of({0.4, 1.01, 3.0}).here, "2 of 3 rows exceed it, the largest is 3 of it");
    EXPECT_EQ(of({}).text(), "not measured: needs a GPU");
    // The model's claims see none of these rows.
    const StudyTable table = rows(row.variant, row.metric, {0.5});
    EXPECT_EQ(verdict("finishing-time", "F3", table), "not measured: no row was searched");
  }
}

}  // namespace
}  // namespace tessera::testing
