// These tests sum forces between particles in all ways and judge the claims on made-up rows.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "src/studies/n_body/n_body_forces.hpp"
#include "src/studies/sharing/hardware_transactions.hpp"
#include "src/studies/thread_team.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

const std::string kStudy = "n-body";

Particles random_particles(int n) {
  std::mt19937 random(n);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  Particles particles;
  for (int i = 0; i < n; ++i) {
    particles.x.push_back(uniform(random));
    particles.y.push_back(uniform(random));
    particles.mass.push_back(2.0 + uniform(random));
  }
  return particles;
}

bool needs_transactions(ForceSums sums) {
  return sums == ForceSums::basic_transaction || sums == ForceSums::blocked_transaction;
}

// The definition, written out.
PlaneVector force_on(const Particles& p, std::size_t i) {
  PlaneVector sum;
  for (std::size_t j = 0; j < p.size(); ++j) {
    const double dx = p.x[j] - p.x[i];
    const double dy = p.y[j] - p.y[i];
    const double factor = p.mass[i] * p.mass[j] / std::pow(dx * dx + dy * dy + 0.05 * 0.05, 1.5);
    sum.x += factor * dx;
    sum.y += factor * dy;
  }
  return sum;
}

// Numbers of particles that blocks and groups do not divide.
TEST(NBody, AllWaysCountExactlyAndAgreeWithTheDefinition) {
  for (const int n : {2, 37, 130}) {
    const Particles particles = random_particles(n);
    for (const NamedForceSums& way : force_sums()) {
      if (needs_transactions(way.sums) && !why_no_transactions().empty()) continue;
      for (const int threads : {1, 2}) {
        if (!why_no_team(threads).empty()) continue;
        if (way.sums == ForceSums::serial && threads > 1) continue;
        ForceSummation summation(way.sums, n, threads, std::vector<TransactionState>(threads));
        run_team(threads,
                 [&](int thread) { summation.add_up(thread, particles, PairForce::counting); });
        for (int i = 0; i < n; ++i) {
          EXPECT_EQ(summation.forces()[i].x, n - 1 - 2 * i) << way.name << " " << n << " " << i;
        }
        // Once more: what was there is forgotten.
        run_team(threads,
                 [&](int thread) { summation.add_up(thread, particles, PairForce::gravity); });
        for (int i = 0; i < n; ++i) {
          const PlaneVector expected = force_on(particles, i);
          const double size = std::hypot(expected.x, expected.y) + 1.0;
          EXPECT_NEAR(summation.forces()[i].x, expected.x, 1e-11 * size) << way.name;
          EXPECT_NEAR(summation.forces()[i].y, expected.y, 1e-11 * size) << way.name;
        }
      }
    }
  }
}

TEST(NBody, MeasuresAllWays) {
  const StudyInfo& study = find_study(kStudy);
  StudyOptions options = options_of(kStudy, {"--particles=20,33", "--steps", "4"});
  options.threads = {1, 2};
  StudyRecord record(study, options, "a CPU", Verbosity::quiet);
  study.measure(record);
  EXPECT_EQ(record.wrong_rows(), 0) << record.csv();
  const StudyTable& table = record.table();
  for (const char* variant : {"serial", "basic-lock", "blocked-cas", "private", "twice"}) {
    const StudyRow& row = table.at(variant, 1, {"33"});
    EXPECT_EQ(row.seconds.count, 5) << variant;
    EXPECT_GT(table.metric(row, "faster_than_serial"), 0.0) << variant;
    EXPECT_LT(table.metric(row, "energy_drift"), 1e-3) << variant;
  }
}

/// Seconds of all variants at 1024 particles on 16 threads; transactions as locks.
StudyTable made_up(double lock, double cas, double blocked_lock, double blocked_cas,
                   double private_sums, int threads = 16) {
  StudyTable table(find_study(kStudy).layout);
  const auto add = [&](const std::string& variant, int of_threads, double seconds) {
    table.add({.variant = variant,
               .threads = of_threads,
               .parameters = {"1024"},
               .seconds = around(seconds),
               .metrics = {1.0, 1.0, 1.0, 0.4, 50.0, 0.0, 50.0, 0.0}});
  };
  add("serial", 1, 1.24);
  add("basic-lock", threads, lock);
  add("basic-transaction", threads, 0.97 * lock);
  add("basic-cas", threads, cas);
  add("blocked-lock", threads, blocked_lock);
  add("blocked-transaction", threads, 0.93 * blocked_lock);
  add("blocked-cas", threads, blocked_cas);
  add("private", threads, private_sums);
  return table;
}

TEST(NBody, ThePapersNumbersHold) {
  const StudyTable paper = made_up(0.64, 0.50, 0.15, 0.22, 0.09);
  for (const char* claim : {"N1", "N2", "N3", "N4", "N5", "N6"}) {
    EXPECT_EQ(verdict(kStudy, claim, paper), "holds") << claim;
  }
  EXPECT_EQ(found(kStudy, "N1", paper).here, "0.09 s, 13.8 times serial, threads: 16");
}

TEST(NBody, OtherNumbersDoNot) {
  const StudyTable others = made_up(0.34, 0.50, 0.15, 0.02, 0.09);
  for (const char* claim : {"N1", "N2", "N3", "N4"}) {
    EXPECT_EQ(verdict(kStudy, claim, others), "does not hold") << claim;
  }
  EXPECT_EQ(verdict(kStudy, "N2", made_up(2.0, 2.0, 1.0, 1.0, 0.7, 2)),
            "not measured: 3 times serial needs 4 threads at least");
}

}  // namespace
}  // namespace tessera::testing
