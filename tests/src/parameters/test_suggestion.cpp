// These tests look at guesses of misspelled names.
#include <gtest/gtest.h>

#include <vector>

#include "src/parameters/messages/suggestion.hpp"

namespace tessera {
namespace {

TEST(Suggestion, EditDistance) {
  EXPECT_EQ(edit_distance("degree", "degree"), 0);
  EXPECT_EQ(edit_distance("Degree", "degree"), 0);
  EXPECT_EQ(edit_distance("gauss_lobatto", "gauss-lobatto"), 0);
  EXPECT_EQ(edit_distance("degre", "degree"), 1);
  EXPECT_EQ(edit_distance("dergee", "degree"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
}

TEST(Suggestion, NearestPicksTheClosest) {
  const std::vector<std::string> words = {"csr", "local", "tensor", "relative_tolerance"};
  EXPECT_EQ(nearest("tenser", words), "tensor");
  EXPECT_EQ(nearest("lcoal", words), "local");
  EXPECT_EQ(nearest("tolerance", words), "relative_tolerance");
  EXPECT_EQ(nearest("banana", words), std::nullopt);
}

}  // namespace
}  // namespace tessera
