// These tests look at aligned columns and CSV lines.
#include <gtest/gtest.h>

#include <stdexcept>

#include "postprocess/files/text_table.hpp"

namespace tessera {
namespace {

TEST(TextTable, AlignsColumnsWithoutTrailingBlanks) {
  TextTable table({{"name", Align::left}, {"n"}, {"note", Align::left}});
  table.add_row({"a", "1", "short"});
  table.add_row({"longer", "1000"});
  EXPECT_EQ(table.text(),
            "name       n  note\n"
            "a          1  short\n"
            "longer  1000\n");
}

TEST(TextTable, CountsCharactersNotBytes) {
  TextTable table({{"name", Align::left}, {"n"}});
  table.add_row({"Gauß–µ", "1"});
  EXPECT_EQ(table.text(),
            "name    n\n"
            "Gauß–µ  1\n");
}

TEST(TextTable, RefusesTooManyCells) {
  TextTable table({{"a"}});
  EXPECT_THROW(table.add_row({"1", "2"}), std::invalid_argument);
}

TEST(CsvLine, QuotesOnlyWhatMustBe) {
  EXPECT_EQ(csv_line({"a b", "1,5", "say \"x\"", "", "two\nlines"}),
            "a b,\"1,5\",\"say \"\"x\"\"\",,\"two\nlines\"\n");
}

}  // namespace
}  // namespace tessera
