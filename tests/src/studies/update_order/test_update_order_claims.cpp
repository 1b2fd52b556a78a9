// These tests judge the claims of the study update-order on made-up rows.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "src/studies/update_order/relaxation_problems.hpp"
#include "src/studies/update_order/update_order_table.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

const std::string kStudy = "update-order";

/// Inconsistencies at each first and last component of blocks and of warps inside of them, and at
/// component 5 of each block.
struct Seen {
  int first = 0;
  int last = 0;
  int inside = 0;
};

InconsistencyCounts counts_of(const Seen& seen, int block) {
  InconsistencyCounts counts{};
  for (int j = 0; j < kProbePeriod; ++j) {
    const int unit = std::min(block, kWarpSize);
    if (j % unit == 0) counts[j] += seen.first;
    if (j % unit == unit - 1) counts[j] += seen.last;
    if (j % block == 5) counts[j] += seen.inside;
  }
  return counts;
}

void add_probes(StudyTable& table, ProbeKernel kernel, const std::vector<int>& blocks,
                const Seen& seen) {
  for (const int block : blocks) {
    table.add({.variant = probe_name(kernel),
               .parameters = probe_parameters(LoadPath::l2, block),
               .metrics = probe_cells(1000, counts_of(seen, block), block)});
  }
}

void add_starts(StudyTable& table, std::int64_t increasing) {
  for (const Wave wave : {Wave::first, Wave::later, Wave::all}) {
    table.add({.variant = kStarts,
               .parameters = start_parameters(256, wave),
               .metrics = start_cells(10, {.pairs = 1000, .increasing = increasing})});
  }
}

StudyTable probed(const Seen& in_place, const Seen& in_shared, std::int64_t increasing) {
  StudyTable table(update_order_layout());
  add_probes(table, ProbeKernel::kernel1, {8, 16, 32, 64, 128, 256}, in_place);
  add_probes(table, ProbeKernel::kernel2, {128, 256}, in_shared);
  add_starts(table, increasing);
  return table;
}

TEST(UpdateOrderClaims, TheDocumentsFiguresHold) {
  const StudyTable paper = probed({.first = 40}, {.first = 30, .last = 2}, 990);
  for (const char* claim : {"U1", "U2", "U3", "U4", "U5", "U6"}) {
    EXPECT_EQ(verdict(kStudy, claim, paper), "holds") << claim;
  }
  EXPECT_EQ(found(kStudy, "U3", paper).here,
            "block first 2520, last 0; warp first 680, last 0; elsewhere 0; 6000 executions");
  EXPECT_EQ(verdict(kStudy, "U7", paper), "not measured: fewer than two orders");
}

TEST(UpdateOrderClaims, OtherPlacesDoNot) {
  const StudyTable inside = probed({.first = 40, .last = 1, .inside = 1}, {.first = 30}, 900);
  for (const char* claim : {"U1", "U2", "U3", "U4", "U5", "U6"}) {
    EXPECT_EQ(verdict(kStudy, claim, inside), "does not hold") << claim;
  }
  // Nothing seen at all.
  const StudyTable nothing = probed({}, {}, 1000);
  EXPECT_EQ(verdict(kStudy, "U1", nothing), "does not hold");
  EXPECT_EQ(verdict(kStudy, "U2", nothing), "does not hold");
  EXPECT_EQ(verdict(kStudy, "U3", nothing), "holds");
}

/// A mean and a deviation of an order after 100 sweeps of the first problem.
struct Relaxed {
  std::string order;
  double mean;
  double deviation;
  int every = 1;
};

StudyTable relaxed(const std::vector<Relaxed>& rows) {
  StudyTable table(update_order_layout());
  for (const Relaxed& row : rows) {
    table.add({.variant = row.order,
               .threads = 2,
               .parameters = relaxation_parameters("p1-16", "8x8x4", row.every, 100),
               .metrics = relaxation_cells({.min = row.mean - row.deviation,
                                            .mean = row.mean,
                                            .max = row.mean + row.deviation,
                                            .deviation = row.deviation},
                                           0.96)});
  }
  return table;
}

TEST(UpdateOrderClaims, TheManualsNumbersHold) {
  const StudyTable manual = relaxed({{"queue", 3.4e-5, 1.6e-7},
                                     {"queue", 3.56e-5, 8.9e-6, 10},
                                     {"queue-random", 8e-5, 1e-6},
                                     {"synchronous", 1.244e-3, 0.0}});
  for (const char* claim : {"U7", "U8", "U9"}) {
    EXPECT_EQ(verdict(kStudy, claim, manual), "holds") << claim;
  }
  EXPECT_EQ(found(kStudy, "U8", manual).here, "3.4e-05 against 0.00124: log ratio 1.54");
}

TEST(UpdateOrderClaims, OrdersThatAgreeDoNot) {
  const StudyTable agree = relaxed({{"queue", 1e-3, 1e-4},
                                    {"queue", 1e-3, 1e-5, 10},
                                    {"hardware", 1.25e-3, 1e-4},
                                    {"synchronous", 1.1e-3, 0.0}});
  for (const char* claim : {"U7", "U8", "U9"}) {
    EXPECT_EQ(verdict(kStudy, claim, agree), "does not hold") << claim;
  }
}

TEST(UpdateOrderClaims, CellsStandInTheirPart) {
  StudyTable table(update_order_layout());
  add_starts(table, 500);
  const StudyRow& row = table.at(kStarts, 1, start_parameters(256, Wave::all));
  EXPECT_EQ(table.metric(row, "increasing_percent"), 50.0);
  EXPECT_EQ(table.metric(row, "displacement"), 0.0);
  EXPECT_THROW(static_cast<void>(table.metric(row, "mean")), NotMeasured);
  EXPECT_THROW(static_cast<void>(table.metric(row, "executions")), NotMeasured);
  add_probes(table, ProbeKernel::kernel1, {64}, {.first = 3});
  const StudyRow& probe = table.at("kernel1", 1, probe_parameters(LoadPath::l2, 64));
  EXPECT_EQ(table.metric(probe, "warp_first"), 12.0);
  EXPECT_EQ(table.metric(probe, "inconsistent_per_execution"), 0.024);
  const std::vector<std::string> csv = csv_cells(probe, table.layout(), kStudy, "cuda", "a GPU");
  EXPECT_NE(std::find(csv.begin(), csv.end(), "0:3 32:3 64:3 96:3 128:3 160:3 192:3 224:3"),
            csv.end());
}

}  // namespace
}  // namespace tessera::testing
