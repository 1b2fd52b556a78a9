// These tests format diagnostics.
#include <gtest/gtest.h>

#include "src/parameters/messages/diagnostics.hpp"

namespace tessera {
namespace {

TEST(Diagnostics, AllPartsOnOneLine) {
  EXPECT_EQ(format_diagnostic({"case.toml", 7, "space.degree", "0", "must be 1"}),
            "case.toml:7: space.degree = 0: must be 1");
}

TEST(Diagnostics, AbsentPartsAreLeftOut) {
  EXPECT_EQ(format_diagnostic({.file = "a.toml", .message = "cannot be opened"}),
            "a.toml: cannot be opened");
  EXPECT_EQ(format_diagnostic({.file = "a.toml", .key = "mesh.cells", .message = "is missing"}),
            "a.toml: mesh.cells: is missing");
  EXPECT_EQ(format_diagnostic({.message = "wrong"}), "wrong");
}

TEST(Diagnostics, NewlinesDoNotBreakTheLine) {
  EXPECT_EQ(format_diagnostic({.file = "a", .message = "one\ntwo"}), "a: one two");
}

TEST(Diagnostics, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(format_diagnostic({.file = "a", .message = "\x1b[31m\tred\r\x7f"}), "a:  [31m red  ");
}

TEST(Diagnostics, InputErrorHasOneLineEach) {
  const InputError error({{.file = "a", .message = "one"}, {.file = "b", .message = "two"}});
  EXPECT_STREQ(error.what(), "a: one\nb: two");
  EXPECT_EQ(error.diagnostics().size(), 2U);
}

}  // namespace
}  // namespace tessera
