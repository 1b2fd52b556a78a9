// These tests check what a run says of what failed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>

#include "solvers/ranks/thread_ranks.hpp"
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

// Otherwise it would go on to the next piece of work while others wait in this one.
TEST(RunNotes, AFailureOfOneRankEndsAll) {
  for (int culprit = 0; culprit < 3; ++culprit) {
    EXPECT_THROW(run_on_threads(3,
                                [&](const Communicator& ranks) {
                                  RunNotes notes(ranks);
                                  notes.attempt("checkpoint", "is not written", [&] {
                                    if (ranks.rank() == culprit) throw std::bad_alloc();
                                    (void)ranks.sum(1.0);
                                  });
                                  ADD_FAILURE() << "a rank goes on";
                                }),
                 std::bad_alloc);
  }
}

TEST(RunNotes, AFailureOfAllRanksIsNotedByAll) {
  ::testing::internal::CaptureStderr();
  run_on_threads(3, [](const Communicator& ranks) {
    RunNotes notes(ranks);
    EXPECT_FALSE(notes.attempt("solution.vtu is missing", [] { throw std::bad_alloc(); }));
    EXPECT_EQ(ranks.sum(1.0), 3.0);
    EXPECT_THAT(notes.all(), ::testing::ElementsAre("solution.vtu is missing: out of memory"));
  });
  ::testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace tessera
