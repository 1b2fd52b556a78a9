// These tests judge claims on made-up numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/studies/claims.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

Summary quartiles(double lower, double upper) {
  return {.count = 5,
          .minimum = lower,
          .lower_quartile = lower,
          .median = 0.5 * (lower + upper),
          .upper_quartile = upper};
}

TEST(Claims, BeforeComparesQuartiles) {
  EXPECT_EQ(before(quartiles(1.0, 2.0), quartiles(2.1, 3.0)), Verdict::holds);
  EXPECT_EQ(before(quartiles(2.1, 3.0), quartiles(1.0, 2.0)), Verdict::does_not_hold);
  EXPECT_EQ(before(quartiles(1.0, 2.2), quartiles(2.1, 3.0)), Verdict::not_measured);
  EXPECT_EQ(before(quartiles(1.0, 2.0), quartiles(2.0, 3.0)), Verdict::not_measured);
  EXPECT_EQ(before(quartiles(1.0, 1.0), quartiles(1.0, 1.0)), Verdict::not_measured);
}

TEST(Claims, AllHoldIsAsWeakAsItsWeakest) {
  constexpr Verdict kHolds = Verdict::holds;
  constexpr Verdict kFails = Verdict::does_not_hold;
  constexpr Verdict kUnknown = Verdict::not_measured;
  EXPECT_EQ(all_hold({kHolds, kHolds}), kHolds);
  EXPECT_EQ(all_hold({kHolds, kUnknown}), kUnknown);
  EXPECT_EQ(all_hold({kUnknown, kFails, kHolds}), kFails);
}

TEST(Claims, WhatIsNotMeasuredSaysWhy) {
  const Claim claim = {"X1", "it is so", "7", "a rule", [](const StudyTable& table) {
                         return within(table.at("this", 1).seconds.median, 1.0, 2.0, "time");
                       }};
  StudyTable table;
  EXPECT_EQ(judge(claim, table).text(), "not measured: no row of this, 1 thread");
  table.add({.variant = "this", .not_measured = "2 cores"});
  EXPECT_EQ(judge(claim, table).text(), "not measured: 2 cores");
  StudyTable measured;
  measured.add({.variant = "this", .seconds = around(2.0)});
  EXPECT_EQ(judge(claim, measured).text(), "holds");
  StudyTable slow;
  slow.add({.variant = "this", .seconds = around(2.5)});
  EXPECT_EQ(judge(claim, slow).text(), "does not hold");
  EXPECT_EQ(judge(claim, slow).here, "time 2.5");
}

TEST(Claims, OneComparisonIsEnoughToRefute) {
  Comparisons comparisons;
  comparisons.add([] { return Verdict::holds; });
  EXPECT_EQ(comparisons.finding("").text(), "holds");
  comparisons.add([]() -> Verdict { throw NotMeasured("no transactions"); });
  EXPECT_EQ(comparisons.finding("").text(), "not measured: no transactions");
  comparisons.add([] { return Verdict::does_not_hold; });
  EXPECT_EQ(comparisons.finding("").text(), "does not hold");
}

TEST(Claims, TablesHaveRuleAndVerdict) {
  const std::vector<Claim> claims = {{"X1", "a, b", "7", "so", nullptr}};
  const std::vector<Finding> findings = {finding(Verdict::not_measured, "6.9")};
  EXPECT_EQ(claims_csv("study", claims, findings),
            "study,number,claim,document,rule,here,verdict\n"
            "study,X1,\"a, b\",7,so,6.9,not measured: too close\n");
  EXPECT_THAT(claims_text(claims, findings), HasSubstr("X1 holds if so\n"));
  EXPECT_THAT(claims_text(claims, findings), HasSubstr("not measured: too close"));
}

// Every rule of every study says something about a table without rows, and the same twice.
TEST(Claims, NothingIsMeasuredOfAnEmptyTable) {
  for (const StudyInfo& study : studies()) {
    EXPECT_FALSE(study.claims.empty()) << study.name;
    for (const Claim& claim : study.claims) {
      const Finding finding = judge(claim, StudyTable(study.layout));
      EXPECT_EQ(finding.verdict, Verdict::not_measured) << claim.number;
      EXPECT_FALSE(finding.reason.empty()) << claim.number;
      EXPECT_FALSE(claim.rule.empty()) << claim.number;
    }
  }
}

}  // namespace
}  // namespace tessera::testing
