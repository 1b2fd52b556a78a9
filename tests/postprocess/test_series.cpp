// These tests read what a run in time writes line by line, and the collection of its files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/series/collection.hpp"
#include "postprocess/series/growing_file.hpp"
#include "postprocess/series/probe_series.hpp"
#include "postprocess/series/step_table.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera {
namespace {

using testing::read_file;
using testing::TemporaryDirectory;

TEST(GrowingFile, HasEveryLineAtOnce) {
  const TemporaryDirectory root;
  write_text_file(root.path() / "steps.csv", "a,b\n");
  GrowingFile file(root.path() / "steps.csv");
  file.add("1,2\n");
  EXPECT_EQ(read_file(root.path() / "steps.csv"), "a,b\n1,2\n");
  file.add("3,4\n");
  EXPECT_EQ(read_file(root.path() / "steps.csv"), "a,b\n1,2\n3,4\n");
  EXPECT_EQ(root.entry_count(), 1);
}

TEST(GrowingFile, NeedsAFile) {
  const TemporaryDirectory root;
  EXPECT_THROW(GrowingFile(root.path() / "steps.csv"), OutputError);
  EXPECT_EQ(root.entry_count(), 0);
}

TEST(GrowingFile, HasNoPartOfALine) {
  const TemporaryDirectory root;
  const auto path = root.path() / "steps.csv";
  write_text_file(path, "a,b\n");
  GrowingFile file(path);
  file.add("1,2\n");
  {
    const testing::FileSizeLimit limit(11);
    EXPECT_THROW(file.add("3,456789\n"), OutputError);
    EXPECT_EQ(read_file(path), "a,b\n1,2\n");
  }
  file.add("5,6\n");
  EXPECT_EQ(read_file(path), "a,b\n1,2\n5,6\n");
}

TEST(StepTable, HasAllDigitsAndNoEstimateWhereThereIsNone) {
  EXPECT_EQ(step_header(), "t,dt,error_estimate,linear_iterations,rejected,nonlinear_iterations\n");
  EXPECT_EQ(step_line({0.1 + 0.2, 0.1, 1.25e-7, 12, 1, 5}),
            "0.30000000000000004,0.1,1.25e-07,12,1,5\n");
  EXPECT_EQ(step_line({1.0, 1e-3, std::nan(""), 3, 0}), "1,0.001,,3,0,0\n");
}

TEST(ProbeSeries, HasAColumnForEachProbe) {
  const std::vector<Point> points = {{0.5, 0.25, 0.0}, {1.0, 0.1, 0.0}};
  EXPECT_EQ(probe_series_header("Tessera 1.0", points, ExactColumns::no),
            "# Tessera 1.0\n# u1: 0.5, 0.25, 0\n# u2: 1, 0.1, 0\nt,u1,u2\n");
  EXPECT_EQ(probe_series_line(0.1, {{1.5, -2.0}, {}}, ExactColumns::no), "0.1,1.5,-2\n");
}

TEST(ProbeSeries, HasTheExactSolutionWhereItIsKnown) {
  const std::vector<Point> points = {{0.5, 0.25, 0.0}, {1.0, 0.1, 0.0}};
  EXPECT_THAT(probe_series_header("Tessera 1.0", points, ExactColumns::yes),
              ::testing::EndsWith("\nt,u1,u2,exact1,exact2\n"));
  EXPECT_EQ(probe_series_line(0.1, {{1.5, -2.0}, {1.25, 3.0}}, ExactColumns::yes),
            "0.1,1.5,-2,1.25,3\n");
  EXPECT_EQ(probe_series_line(0.1, {{1.5, -2.0}, {}}, ExactColumns::yes), "0.1,1.5,-2,,\n");
}

TEST(Collection, NamesFilesAndTimes) {
  const std::vector<TimedFile> files = {{0.0, "solution_0001.vtu"}, {0.1, "solution_0002.vtu"}};
  EXPECT_EQ(
      collection_text(files),
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"Collection\" version=\"0.1\">\n"
      "  <Collection>\n"
      "    <DataSet timestep=\"0\" part=\"0\" file=\"solution_0001.vtu\"/>\n"
      "    <DataSet timestep=\"0.10000000000000001\" part=\"0\" file=\"solution_0002.vtu\"/>\n"
      "  </Collection>\n"
      "</VTKFile>\n");
}

TEST(Collection, FilesAreInTheOrderOfTheirNames) {
  EXPECT_EQ(numbered_solution_name(1, 11, ".vtu"), "solution_0001.vtu");
  EXPECT_EQ(numbered_solution_name(9999, 9999, ".png"), "solution_9999.png");
  EXPECT_EQ(numbered_solution_name(1, 10000, ".vtu"), "solution_00001.vtu");
  EXPECT_EQ(numbered_solution_name(12345, 11, ".vtu"), "solution_12345.vtu");
  for (const char* name :
       {"solution_0001.vtu", "solution_0001.pvtu", "solution_0001.png", "solution_00001.png"}) {
    EXPECT_EQ(solution_number(name), 1) << name;
  }
  EXPECT_EQ(solution_number("solution_12345.vtu"), 12345);
  for (const char* name :
       {"solution.vtu", "solution_001.vtu", "solution_0000.vtu", "solution_0001.csv",
        "solution_00a1.png", "solution_.png", "solution_0001.vtu.png", "solution_0001", "x"}) {
    EXPECT_EQ(solution_number(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace tessera
