// These tests look rows up and write them as CSV.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/studies/study_table.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

const StudyLayout kLayout = {.parameters = {{"size"}, {"q"}},
                             .metrics = {{"failed_percent", "failed%"}, {"note"}},
                             .time_unit = "ms"};

StudyRow row(const std::string& variant, int threads) {
  return {.variant = variant,
          .threads = threads,
          .parameters = {"8", "0.25"},
          .seconds = {.count = 7,
                      .minimum = 1.0,
                      .lower_quartile = 1.25,
                      .median = 1.5,
                      .upper_quartile = 2.0},
          .metrics = {0.125, std::string("a note")}};
}

TEST(StudyTable, CsvHasAllColumns) {
  const std::vector<std::string> header = csv_header(kLayout);
  EXPECT_EQ(header, (std::vector<std::string>{"study", "variant", "device", "machine", "threads",
                                              "size", "q", "runs", "median_s", "q1_s", "q3_s",
                                              "min_s", "failed_percent", "note", "wrong"}));
  EXPECT_EQ(csv_cells(row("atomic", 2), kLayout, "made-up", "cpu", "a CPU"),
            (std::vector<std::string>{"made-up", "atomic", "cpu", "a CPU", "2", "8", "0.25", "7",
                                      "1.5", "1.25", "2", "1", "0.125", "a note", "no"}));
}

TEST(StudyTable, CsvSaysWhatIsMissingAndWrong) {
  StudyRow missing = {
      .variant = "atomic", .threads = 4, .parameters = {"8", ""}, .not_measured = "2 cores"};
  std::vector<std::string> cells = csv_cells(missing, kLayout, "made-up", "cpu", "a CPU");
  EXPECT_EQ(cells.size(), csv_header(kLayout).size());
  EXPECT_EQ(cells[7], "0");
  EXPECT_EQ(cells[8], "");
  EXPECT_EQ(cells.back(), "not measured: 2 cores");
  StudyRow wrong = row("unprotected", 2);
  wrong.correctness = Correctness::wrong_by_design;
  wrong.wrong = "3 % of the additions lost";
  EXPECT_EQ(csv_cells(wrong, kLayout, "made-up", "cpu", "a CPU").back(), wrong.wrong);
}

TEST(StudyTable, RowsAreFoundByVariantThreadsAndParameters) {
  StudyTable table(kLayout);
  EXPECT_THROW(static_cast<void>(table.max_threads()), NotMeasured);
  table.add(row("atomic", 2));
  table.add(row("mutex", 1));
  table.add(
      {.variant = "atomic", .threads = 4, .parameters = {"8", "0.25"}, .not_measured = "2 cores"});
  EXPECT_EQ(table.at("atomic", 2, {"8", "0.25"}).threads, 2);
  EXPECT_EQ(table.metric(table.at("mutex", 1, {"8", "0.25"}), "failed_percent"), 0.125);
  EXPECT_EQ(table.max_threads(), 2);
  EXPECT_THROW(static_cast<void>(table.at("atomic", 4, {"8", "0.25"})), NotMeasured);
  EXPECT_THROW(static_cast<void>(table.at("atomic", 2, {"8", "0.5"})), NotMeasured);
  EXPECT_THROW(static_cast<void>(table.metric(table.rows().front(), "note")), NotMeasured);
  EXPECT_THROW(static_cast<void>(table.metric(table.rows().front(), "nothing")),
               std::invalid_argument);
}

TEST(StudyTable, RowsMustFitTheColumns) {
  StudyTable table(kLayout);
  StudyRow short_row = row("atomic", 1);
  short_row.parameters.pop_back();
  EXPECT_THROW(table.add(short_row), std::invalid_argument);
  StudyRow long_row = row("atomic", 1);
  long_row.metrics.emplace_back(1.0);
  EXPECT_THROW(table.add(long_row), std::invalid_argument);
}

TEST(StudyRecord, CountsWhatIsWrongUnlessItIsMeantToBe) {
  const StudyInfo study = {.name = "made-up", .variants = {"atomic"}, .layout = kLayout};
  StudyRecord record(study, StudyOptions(), "a CPU", Verbosity::quiet);
  record.add(row("atomic", 1));
  StudyRow unprotected = row("unprotected", 2);
  unprotected.correctness = Correctness::wrong_by_design;
  record.add(unprotected);
  EXPECT_EQ(record.wrong_rows(), 0);
  StudyRow wrong = row("atomic", 2);
  wrong.correctness = Correctness::wrong;
  wrong.wrong = "value 3 is 7, not 8";
  record.add(wrong);
  EXPECT_EQ(record.wrong_rows(), 1);
  const std::string csv = record.csv();
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_NE(csv.find(",\"value 3 is 7, not 8\"\n"), std::string::npos) << csv;
}

// A CPU's row beside those of a GPU says so.
TEST(StudyRecord, FilesSayWhereARowWasMeasured) {
  const StudyInfo study = {.name = "made-up", .variants = {"atomic"}, .layout = kLayout};
  StudyOptions options;
  options.processor = Processor::gpu;
  StudyRecord record(study, options, "some GPU", Verbosity::quiet);
  record.add(row("atomic", 1));
  StudyRow serial = row("serial", 1);
  serial.processor = Processor::cpu;
  record.add(serial);
  const std::string csv = record.csv();
  EXPECT_NE(csv.find("made-up,atomic,cuda,some GPU,1,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("made-up,serial,cpu,"), std::string::npos) << csv;
  EXPECT_EQ(csv.find("made-up,serial,cpu,some GPU"), std::string::npos) << csv;
}

// Columns of another part are not on the screen, but in the file.
TEST(StudyRecord, PartsHaveColumnsOfTheirOwn) {
  const StudyInfo study = {
      .name = "made-up",
      .variants = {"one", "two"},
      .layout = {
          .parameters = {{"part"}},
          .metrics = {{.name = "eggs", .parts = {"a"}},
                      {.name = "ham", .parts = {"b"}},
                      {.name = "crumbs", .parts = {"b"}, .place = StudyColumn::Place::file}}}};
  StudyRecord record(study, StudyOptions(), "a CPU", Verbosity::normal);
  ::testing::internal::CaptureStdout();
  record.add({.variant = "one", .part = "a", .parameters = {"a"}, .metrics = {7.0, {}, {}}});
  record.add({.variant = "two", .part = "b", .parameters = {"b"}, .metrics = {{}, 8.0, 9.0}});
  record.add({.variant = "two", .part = "b", .parameters = {"b"}, .not_measured = "no oven"});
  const std::string shown = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(shown,
            "  variant      part      eggs\n"
            "  one             a         7\n"
            "\n"
            "  variant      part       ham\n"
            "  two             b         8\n"
            "  two             b  not measured: no oven\n");
  EXPECT_NE(record.csv().find(",8,9,no\n"), std::string::npos) << record.csv();
}

}  // namespace
}  // namespace tessera::testing
