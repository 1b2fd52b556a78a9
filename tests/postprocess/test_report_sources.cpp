// Tests of what reports read: CSV files, directories, JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postprocess/report/html.hpp"
#include "postprocess/report/sources.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera::report {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CsvTable, HasCommentsColumnsAndCells) {
  const CsvTable table("t", "# Tessera 0.1.0\n# title: A: b\na,b\n1.5,\"x, \"\"y\"\"\"\r\n,2e3\n");
  EXPECT_TRUE(table.names_tessera());
  EXPECT_EQ(table.comment("title"), "A: b");
  EXPECT_THAT(table.columns(), ElementsAre("a", "b"));
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table.number(0, "a"), 1.5);
  EXPECT_EQ(table.text(0, "b"), "x, \"y\"");
  EXPECT_EQ(table.number(1, "a"), std::nullopt);
  EXPECT_EQ(table.number(1, "b"), 2000.0);
  EXPECT_EQ(table.number(1, "c"), std::nullopt);
  EXPECT_FALSE(CsvTable("t", "a,b\n1,2\n").names_tessera());
}

TEST(CsvTable, SaysWhatIsWrong) {
  const auto message = [](std::string_view text) -> std::string {
    try {
      CsvTable("t.csv", text);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(""), HasSubstr("t.csv: no header"));
  EXPECT_THAT(message("a,b\n1\n"), HasSubstr("t.csv: line 2: 1 cells under 2 columns"));
  EXPECT_THAT(message("a,b\n\"1,2\n"), HasSubstr("t.csv: a quote is not closed"));
}

TEST(CleanText, IsUtf8WithoutControlCharacters) {
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(clean_text("ä€😀\n\t"), "ä€😀\n\t");
  EXPECT_EQ(clean_text(std::string_view("a\0b\x1b", 4)), "a" + replacement + "b" + replacement);
  EXPECT_EQ(clean_text("\xC3"), replacement);
  EXPECT_EQ(clean_text("\xC0\x80"), replacement + replacement);
  EXPECT_EQ(clean_text("\xED\xA0\x80"), replacement + replacement + replacement);
}

TEST(Html, EscapesAndEncodes) {
  EXPECT_EQ(escaped("<a href='x'>\"&"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;");
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_THAT(html_table({"<h>"}, {{"<c>"}}),
              AllOf(HasSubstr("&lt;h&gt;"), HasSubstr("&lt;c&gt;")));
}

class SourcesTest : public ::testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) {
    const fs::path path = directory_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  static std::string message(const fs::path& path) {
    try {
      read_sources({{path, {}}});
    } catch (const BadInput& error) {
      return error.what();
    }
    return "";
  }
  testing::TemporaryDirectory directory_;
};

constexpr char kSolvers[] =
    "degree,dofs,solver,iterations,min_s,outcome\n4,100,multigrid,3,0.1,converged\n";

TEST_F(SourcesTest, ABadInputIsNamedInOneLine) {
  EXPECT_THAT(message(directory_.path() / "none"), HasSubstr("none: no such file or directory"));
  EXPECT_THAT(message(directory_.path()), HasSubstr("no results of Tessera"));
  EXPECT_THAT(message("/dev/null"), HasSubstr("neither a file nor a directory"));
  EXPECT_THAT(message(write("other.csv", "name,price\nx,3\n")),
              HasSubstr("not a CSV file of Tessera"));
  EXPECT_THAT(message(write("empty.csv", "")), HasSubstr("no header"));
  EXPECT_THAT(message(write("a/result.json", "{\"dofs\": 1, ")).find("result.json"),
              ::testing::Ne(std::string::npos));
  EXPECT_THAT(message(directory_.path() / "a"), HasSubstr("not a JSON object"));
  write("b/result.json", "{\"x\": 1}");
  EXPECT_THAT(message(directory_.path() / "b"), HasSubstr("not a result of Tessera"));
  EXPECT_THAT(message(write("head.csv", "degree,dofs,solver,iterations,min_s,outcome\n")),
              HasSubstr("no rows"));
}

TEST_F(SourcesTest, AnUnfinishedRunHasGaps) {
  write("run/case.toml", "title = \"x\"\n");
  const Sources sources = read_sources({{directory_.path() / "run", {}}});
  ASSERT_EQ(sources.runs.size(), 1U);
  EXPECT_TRUE(sources.runs[0].result.is_null());
  EXPECT_THAT(sources.runs[0].gaps, ::testing::Contains(HasSubstr("unfinished")));
}

TEST_F(SourcesTest, ADirectoryOfResultsIsReadWhole) {
  write("all/one/result.json", "{\"dofs\": 1, \"solver\": {}}");
  write("all/study.csv", kSolvers);
  const Sources sources = read_sources({{directory_.path() / "all/", {}}});
  ASSERT_EQ(sources.runs.size(), 1U);
  EXPECT_EQ(sources.runs[0].label, "all/one");
  ASSERT_EQ(sources.tables.size(), 1U);
  EXPECT_EQ(sources.tables[0].label, "all");
  EXPECT_EQ(sources.tables[0].kind, TableKind::solvers);
}

TEST_F(SourcesTest, InputsOfOneNameAreToldApartByTheirPaths) {
  const fs::path a = write("a/study.csv", kSolvers);
  const fs::path b = write("b/study.csv", kSolvers);
  const Sources sources = read_sources({{a, {}}, {b, {}}});
  EXPECT_EQ(sources.tables[0].label, a.string());
  EXPECT_EQ(sources.tables[1].label, b.string());
}

TEST_F(SourcesTest, ATableThatNamesTesseraIsTakenWhateverItsColumnsAre) {
  const Sources sources = read_sources({{"x.csv", "# Tessera 9\nblocks,time\n1,2\n"}});
  EXPECT_EQ(sources.tables[0].kind, TableKind::other);
}

}  // namespace
}  // namespace tessera::report
