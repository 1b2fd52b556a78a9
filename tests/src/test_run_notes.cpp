// These tests check what a run says of what failed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>

#include "src/commands/run/run_notes.hpp"

namespace tessera {
namespace {

TEST(RunNotes, LackOfMemoryIsNotedAndEndsNothing) {
  RunNotes notes;
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(notes.attempt("solution.vtu is missing", [] { throw std::bad_alloc(); }));
  EXPECT_TRUE(notes.attempt("view.py is missing", [] {}));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "tessera: solution.vtu is missing: out of memory\n");
  EXPECT_THAT(notes.all(), ::testing::ElementsAre("solution.vtu is missing: out of memory"));
  EXPECT_TRUE(notes.lacks_resources());
}

TEST(RunNotes, OfFailuresOfOneKindTheFirstIsNoted) {
  RunNotes notes;
  ::testing::internal::CaptureStderr();
  for (const char* name : {"a", "b"}) {
    EXPECT_FALSE(notes.attempt(name, "is missing", [] { throw std::bad_alloc(); }));
    EXPECT_FALSE(notes.attempt(name, "lacks lines", [] { throw std::bad_alloc(); }));
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "tessera: a is missing: out of memory\ntessera: a lacks lines: out of memory\n");
  EXPECT_EQ(notes.all().size(), 2U);
}

}  // namespace
}  // namespace tessera
