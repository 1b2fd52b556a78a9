// These tests gather texts of different lengths.
#include <gtest/gtest.h>

#include "solvers/ranks/gather_texts.hpp"
#include "solvers/ranks/thread_ranks.hpp"

namespace tessera {
namespace {

std::string text_of(int rank) { return std::string(static_cast<std::size_t>(rank * rank), 'x'); }

TEST(GatherTexts, HasTheTextOfEveryRank) {
  run_on_threads(4, [](const Communicator& ranks) {
    const std::vector<std::string> texts = gather_texts(ranks, text_of(ranks.rank()));
    ASSERT_EQ(texts.size(), 4U);
    for (int r = 0; r < 4; ++r) EXPECT_EQ(texts[static_cast<std::size_t>(r)], text_of(r));
  });
}

TEST(GatherTexts, HasNothingWhereAllAreEmpty) {
  run_on_threads(3, [](const Communicator& ranks) {
    EXPECT_EQ(gather_texts(ranks, ""), std::vector<std::string>(3));
  });
}

TEST(GatherTexts, OfOneRankIsItsOwn) {
  const std::string with_zero("a\0b", 3);
  EXPECT_EQ(gather_texts(single_rank(), with_zero), std::vector<std::string>{with_zero});
}

}  // namespace
}  // namespace tessera
