// This file checks a communicator against what each rank can compute by itself.
#include "tests/solvers/ranks/communicator_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/ranks/failure_channel.hpp"
#include "tests/random_values.hpp"

namespace tessera::testing {
namespace {

constexpr int kValues = 5;

std::vector<double> values_of(int rank, unsigned round) {
  std::vector<double> values = random_values(kValues, 100 * round + static_cast<unsigned>(rank));
  // Of very different size, so that the order of a sum shows.
  for (int k = 0; k < kValues; ++k) values[k] = std::ldexp(values[k], 17 * ((rank + k) % 5));
  return values;
}

template <class Combine>
std::vector<double> combined(int ranks, unsigned round, Combine&& combine) {
  std::vector<double> result = values_of(0, round);
  for (int rank = 1; rank < ranks; ++rank) {
    const std::vector<double> values = values_of(rank, round);
    for (int k = 0; k < kValues; ++k) result[k] = combine(result[k], values[k]);
  }
  return result;
}

}  // namespace

void check_reductions(const Communicator& ranks) {
  for (unsigned round = 0; round < 20; ++round) {
    std::vector<double> values = values_of(ranks.rank(), round);
    ranks.sum(values);
    EXPECT_EQ(values, combined(ranks.size(), round, std::plus<>()));
    values = values_of(ranks.rank(), round);
    ranks.min(values);
    EXPECT_EQ(values,
              combined(ranks.size(), round, [](double a, double b) { return std::min(a, b); }));
    values = values_of(ranks.rank(), round);
    ranks.max(values);
    EXPECT_EQ(values,
              combined(ranks.size(), round, [](double a, double b) { return std::max(a, b); }));
    const int root = static_cast<int>(round) % ranks.size();
    values = values_of(ranks.rank(), round);
    ranks.broadcast(std::as_writable_bytes(std::span(values)), root);
    EXPECT_EQ(values, values_of(root, round));
    const std::string text(round * 7, static_cast<char>('a' + ranks.rank()));
    EXPECT_EQ(ranks.broadcast(text, root), std::string(round * 7, static_cast<char>('a' + root)));
  }
  EXPECT_EQ(ranks.sum(ranks.rank() + 1.0), ranks.size() * (ranks.size() + 1) / 2.0);
  for (int culprit = 0; culprit < ranks.size(); ++culprit) {
    EXPECT_TRUE(ranks.any(ranks.rank() == culprit));
    double value = ranks.rank() == culprit ? std::numeric_limits<double>::quiet_NaN() : 1.0;
    ranks.min(std::span(&value, 1));
    EXPECT_TRUE(std::isnan(value));
    value = ranks.rank() == culprit ? std::numeric_limits<double>::quiet_NaN() : 1.0;
    ranks.max(std::span(&value, 1));
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_FALSE(ranks.any(false));
  std::vector<int> expected;
  for (int rank = 0; rank < ranks.size(); ++rank) expected.push_back(3 * rank + 1);
  EXPECT_EQ(ranks.all_gather(3 * ranks.rank() + 1), expected);
  ranks.barrier();
}

void check_exchanges(const Communicator& ranks) {
  const int size = ranks.size();
  const auto letter = [](int from, int to, std::size_t length) {
    std::vector<double> values(length);
    for (std::size_t i = 0; i < length; ++i) {
      values[i] = from + 0.01 * to + 1000.0 * static_cast<double>(i);
    }
    return values;
  };
  for (const std::size_t length : {0, 1, 17, 5000, 100000}) {
    // A ring that is open, so that the ends have one neighbor, and then everyone to everyone.
    for (const bool to_all : {false, true}) {
      std::vector<int> others;
      for (int other = 0; other < size; ++other) {
        if (other == ranks.rank() || (!to_all && std::abs(other - ranks.rank()) > 1)) continue;
        others.push_back(other);
      }
      std::vector<std::vector<double>> sent;
      std::vector<std::vector<double>> received;
      for (const int other : others) {
        sent.push_back(letter(ranks.rank(), other, length));
        received.emplace_back(length, std::numeric_limits<double>::quiet_NaN());
      }
      std::vector<Message> messages;
      for (std::size_t m = 0; m < others.size(); ++m) {
        messages.push_back({others[m], std::as_bytes(std::span(sent[m])),
                            std::as_writable_bytes(std::span(received[m]))});
      }
      ranks.exchange(messages);
      for (std::size_t m = 0; m < others.size(); ++m) {
        EXPECT_EQ(received[m], letter(others[m], ranks.rank(), length));
      }
    }
  }
}

void check_agreements(const Communicator& ranks) {
  EXPECT_EQ(ranks.agree(0, "not heard").code, 0);
  EXPECT_EQ(ranks.agree(0, "not heard").message, "");
  for (int culprit = 0; culprit < ranks.size(); ++culprit) {
    const std::string message = "rank " + std::to_string(ranks.rank()) + " has no memory";
    const Agreement one = ranks.agree(ranks.rank() == culprit ? 3 : 0, message);
    EXPECT_EQ(one.code, 3);
    EXPECT_EQ(one.rank, culprit);
    EXPECT_EQ(one.message, "rank " + std::to_string(culprit) + " has no memory");
    // All fail, and this one worst.
    const Agreement all = ranks.agree(ranks.rank() == culprit ? 3 : 1, message);
    EXPECT_EQ(all.code, 3);
    EXPECT_EQ(all.rank, culprit);
  }
  const Agreement first = ranks.agree(2, std::to_string(ranks.rank()));
  EXPECT_EQ(first.rank, 0);
  EXPECT_EQ(first.message, "0");
}

void check_failures(const Communicator& ranks) {
  const bool is_alone = ranks.size() == 1;
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(failed_together(ranks, "a"));
    EXPECT_EQ(failed_together(ranks, ranks.rank() == 0 ? "a" : "ab"), is_alone);
    EXPECT_EQ(ranks.sum(1.0), ranks.size());
  }
}

}  // namespace tessera::testing
