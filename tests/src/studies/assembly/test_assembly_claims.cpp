// These tests judge the claims of the study assembly on made-up rows.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <variant>

#include "src/studies/assembly/assembly_claims.hpp"
#include "src/studies/assembly/paper_times.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

const std::string kStudy = "assembly";

TEST(PaperTimes, AreThoseOfItsTable) {
  EXPECT_EQ(paper_milliseconds("serial", 1000, 1), 26.33);
  EXPECT_EQ(paper_milliseconds("serial", 1000, 2), std::nullopt);
  EXPECT_EQ(paper_milliseconds("transaction/entry", 100, 8), 2.64);
  EXPECT_EQ(paper_milliseconds("lock-entry", 1, 16), 2.39);
  EXPECT_EQ(paper_milliseconds("atomic", 1, 3), std::nullopt);
  EXPECT_EQ(paper_milliseconds("atomic", 10, 1), std::nullopt);
  EXPECT_EQ(paper_milliseconds("rows", 1, 1), std::nullopt);
}

/// The paper's table as rows, with what its text says besides. Atomic's quartiles are wider.
StudyTable paper_table() {
  StudyTable table(assembly_layout());
  for (const int operations : {1, 100, 1000}) {
    const double serial = *paper_milliseconds("serial", operations, 1);
    for (const char* const variant : {"serial", "transaction/entry", "atomic", "lock-entry"}) {
      for (const int threads : {1, 2, 4, 8, 16}) {
        const auto time = paper_milliseconds(variant, operations, threads);
        if (!time) continue;
        StudyRow row{.variant = variant,
                     .threads = threads,
                     .parameters = assembly_parameters("full", operations, 4146, "random"),
                     .seconds = around(1e-3 * *time)};
        if (row.variant == "atomic") row.seconds.upper_quartile *= 1.005;
        row.metrics = {serial / *time,
                       1.0,
                       *time,
                       1e6 * (*time - serial) / 37314.0,
                       18.8,
                       0.4,
                       0.0,
                       99.6,
                       0.0,
                       row.variant == "lock-entry" ? 106e6 / double(1U << 20U) : 0.0,
                       {},
                       {},
                       {},
                       {}};
        table.add(row);
      }
    }
  }
  for (const char* const variant : {"coloring", "atomic"}) {
    StudyRow row{.variant = variant,
                 .threads = 16,
                 .parameters = assembly_parameters("csr", 1, 4146, "random"),
                 .seconds = around(row.variant == "atomic" ? 2e-3 : 1e-3)};
    row.metrics.resize(assembly_layout().metrics.size());
    // Colors and degree.
    row.metrics[row.metrics.size() - 4] = 8.0;
    row.metrics[row.metrics.size() - 3] = 8.0;
    table.add(row);
  }
  return table;
}

TEST(AssemblyClaims, ThePapersNumbersHold) {
  const StudyTable paper = paper_table();
  for (const Claim& claim : find_study(kStudy).claims) {
    EXPECT_EQ(judge(claim, paper).text(), "holds") << claim.number;
  }
  EXPECT_EQ(found(kStudy, "A4", paper).here, "3.33, 4.58, 9.05 on 16 threads");
  EXPECT_EQ(found(kStudy, "A6", paper).here, "512 / 182 ns = 2.82");
}

TEST(AssemblyClaims, WithoutTransactionsTheirsAreNotMeasuredAndOthersMayFail) {
  const StudyTable paper = paper_table();
  StudyTable table(assembly_layout());
  for (StudyRow row : paper.rows()) {
    if (row.variant == "transaction/entry") {
      row.not_measured = "no RTM";
      row.metrics.clear();
    }
    // An addition by locks that is faster than one without.
    if (row.variant == "lock-entry" && row.parameters[1] == "1") row.seconds = around(1e-5);
    table.add(row);
  }
  for (const char* const claim : {"A1", "A3", "A6", "A7", "A8"}) {
    EXPECT_EQ(verdict(kStudy, claim, table), "not measured: no RTM") << claim;
  }
  EXPECT_EQ(verdict(kStudy, "A2", table), "does not hold");
  EXPECT_EQ(verdict(kStudy, "A5", table), "does not hold");
}

TEST(AssemblyClaims, OtherNumbersDoNotHold) {
  const StudyTable paper = paper_table();
  StudyTable table(assembly_layout());
  for (StudyRow row : paper.rows()) {
    const std::string variant = row.variant;
    if (variant == "transaction/entry") row.seconds = scaled(row.seconds, 20.0);
    if (variant == "atomic") row.seconds = around(30.0 * row.seconds.median);
    if (variant == "lock-entry") row.seconds.upper_quartile *= 1.5;
    for (StudyCell& cell : row.metrics) {
      if (std::holds_alternative<double>(cell)) cell = 3.0;
    }
    if (row.parameters.front() == "csr") {
      row.metrics[row.metrics.size() - 3] = 2.0;
      row.seconds = around(1e-3 * (variant == "atomic" ? 1.0 : 2.0));
    }
    table.add(row);
  }
  for (const char* const claim : {"A1", "A2", "A3", "A4", "A6", "A7", "A8", "A9", "A10", "A11"}) {
    EXPECT_EQ(verdict(kStudy, claim, table), "does not hold") << claim;
  }
}

}  // namespace
}  // namespace tessera::testing
