// These tests count the additions of the study synchronization and judge its claims on made-up
// rows.
#include <gtest/gtest.h>

#include <thread>

#include "src/studies/sharing/additions.hpp"
#include "src/studies/sharing/hardware_transactions.hpp"
#include "src/studies/synchronization/synchronization_claims.hpp"
#include "src/studies/thread_team.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

const std::string kStudy = "synchronization";

// Threads of any number, on however few cores: what is protected is never lost.
TEST(Synchronization, ProtectedAdditionsAreExact) {
  constexpr int kThreads = 4;
  constexpr int kAdditions = 20000;
  double by_cas = 0.0;
  double by_lock = 0.0;
  SpinLock lock;
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; ++n) {
    threads.emplace_back([&, n] {
      Backoff backoff(n);
      for (int i = 0; i < kAdditions; ++i) {
        add_by_cas(by_cas, 1.0, backoff);
        lock.lock();
        by_lock += 1.0;
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(by_cas, kThreads * kAdditions);
  EXPECT_EQ(by_lock, kThreads * kAdditions);
}

TEST(Synchronization, EveryProtectedVariantCountsExactly) {
  const StudyInfo& study = find_study(kStudy);
  StudyOptions options = options_of(kStudy, {"--updates", "500"});
  options.threads = {1, 2};
  options.pace.repetitions = 5;
  StudyRecord record(study, options, "a CPU", Verbosity::quiet);
  study.measure(record);
  EXPECT_EQ(record.wrong_rows(), 0) << record.csv();
  const StudyTable& table = record.table();
  const StudyRow& alone = table.at("nothing", 1, overhead_parameters(8));
  EXPECT_EQ(alone.seconds.count, 5);
  EXPECT_GT(alone.seconds.minimum, 0.0);
  if (max_team_threads() < 2) return;
  for (const char* variant : {"atomic", "mutex", "spin"}) {
    const StudyRow& row = table.at(variant, 2, contention_parameters(share_text(1.0)));
    EXPECT_EQ(row.correctness, Correctness::right) << variant;
    EXPECT_LE(table.metric(row, "actual_percent"), 100.0);
  }
  // Nobody meets anybody.
  EXPECT_EQ(table.at("unprotected", 2, contention_parameters("0")).correctness, Correctness::right);
  EXPECT_EQ(table.metric(table.at("mutex", 2, contention_parameters("0")), "actual_percent"), 0.0);
}

TEST(Synchronization, MissingTransactionsAreNoFailure) {
  const StudyInfo& study = find_study(kStudy);
  StudyOptions options = options_of(kStudy, {"--updates", "100"});
  options.only = {"transaction"};
  StudyRecord record(study, options, "a CPU", Verbosity::quiet);
  study.measure(record);
  ASSERT_FALSE(record.table().rows().empty());
  for (const StudyRow& row : record.table().rows()) {
    EXPECT_EQ(row.variant, "transaction");
    EXPECT_EQ(row.not_measured, why_no_transactions());
  }
}

TEST(Synchronization, MoreThreadsThanCoresAreNotMeasured) {
  const StudyInfo& study = find_study(kStudy);
  StudyOptions options = options_of(kStudy, {"--updates", "100"});
  options.threads = {4000};
  options.only = {"mutex"};
  ASSERT_LT(max_team_threads(), 4000);
  EXPECT_THROW(run_team(4000, [](int) {}), NotMeasured);
  StudyRecord record(study, options, "a CPU", Verbosity::quiet);
  study.measure(record);
  EXPECT_EQ(record.table().rows().back().not_measured, why_no_team(4000));
}

/// Rows of one value on one thread, in ns.
StudyTable alone(double nothing, double transaction, double atomic, double mutex, double spin) {
  StudyTable table(find_study(kStudy).layout);
  const std::pair<const char*, double> times[] = {{"nothing", nothing},
                                                  {"transaction", transaction},
                                                  {"atomic", atomic},
                                                  {"mutex", mutex},
                                                  {"spin", spin}};
  for (const auto& [variant, time] : times) {
    for (const int k : {1, 8}) {
      table.add({.variant = variant,
                 .parameters = overhead_parameters(k),
                 .seconds = around(1e-3 * time * (k == 8 ? 1.2 : 1.0)),
                 .shown_per_second = 1e3,
                 .metrics = {5e-4, 0.0, 0.0, 0.0, 0.0, {}}});
    }
  }
  return table;
}

TEST(Synchronization, ThePapersNumbersHold) {
  const StudyTable paper = alone(12.5, 104.7, 164.1, 339.9, 400.0);
  for (const char* claim : {"S1", "S2", "S3", "S4", "S5"}) {
    EXPECT_EQ(verdict(kStudy, claim, paper), "holds") << claim;
  }
  EXPECT_EQ(found(kStudy, "S1", paper).here, "12.5, 105, 164, 340 ns");
}

TEST(Synchronization, OtherNumbersDoNot) {
  const StudyTable today = alone(1.0, 20.0, 5.0, 18.0, 9.0);
  for (const char* claim : {"S1", "S2", "S5"}) {
    EXPECT_EQ(verdict(kStudy, claim, today), "does not hold") << claim;
  }
  EXPECT_EQ(verdict(kStudy, "S1", alone(1.0, 5.0, 5.01, 18.0, 9.0)), "not measured: too close");
}

/// Contention of two threads; the share of first tries that fail is `met` of q.
StudyTable contention(double transaction, double atomic, double mutex, double met) {
  StudyTable table(find_study(kStudy).layout);
  for (const double q : {0.0, 0.0625, 0.25, 1.0}) {
    const double end = q == 1.0 ? 10.0 : 1.0;
    const std::pair<const char*, double> times[] = {
        {"transaction", transaction}, {"atomic", end * atomic}, {"mutex", mutex}, {"spin", mutex}};
    for (const auto& [variant, time] : times) {
      table.add({.variant = variant,
                 .threads = 2,
                 .parameters = contention_parameters(share_text(q)),
                 .seconds = around(time),
                 .metrics = {1.0, 100.0 * met * q, 0.0, 0.0, 0.0, {}}});
    }
  }
  return table;
}

TEST(Synchronization, ContentionIsJudgedAtAllShares) {
  const StudyTable all_hold = contention(3.0, 1.0, 50.0, 0.7);
  EXPECT_EQ(verdict(kStudy, "S6", all_hold), "holds");
  EXPECT_EQ(verdict(kStudy, "S7", all_hold), "holds");
  EXPECT_EQ(verdict(kStudy, "S8", all_hold), "holds");
  EXPECT_EQ(verdict(kStudy, "S9", all_hold), "does not hold");
  const StudyTable others = contention(30.0, 4.0, 20.0, 0.05);
  EXPECT_EQ(verdict(kStudy, "S6", others), "does not hold");
  EXPECT_EQ(verdict(kStudy, "S7", others), "does not hold");
  EXPECT_EQ(verdict(kStudy, "S8", others), "does not hold");
  EXPECT_EQ(verdict(kStudy, "S9", others), "holds");
}

}  // namespace
}  // namespace tessera::testing
