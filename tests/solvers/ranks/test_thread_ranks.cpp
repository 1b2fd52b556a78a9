// These tests hold the communicators of one process to what communicators promise.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "solvers/ranks/failure_channel.hpp"
#include "solvers/ranks/launched_processes.hpp"
#include "solvers/ranks/mpi_ranks.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "tests/solvers/ranks/communicator_checks.hpp"

namespace tessera::testing {
namespace {

TEST(SingleRank, IsACommunicator) {
  EXPECT_EQ(single_rank().rank(), 0);
  EXPECT_EQ(single_rank().size(), 1);
  check_reductions(single_rank());
  check_exchanges(single_rank());
  check_agreements(single_rank());
  check_failures(single_rank());
}

class ThreadRanks : public ::testing::TestWithParam<int> {};

TEST_P(ThreadRanks, AreCommunicators) {
  std::atomic<int> seen = 0;
  run_on_threads(GetParam(), [&](const Communicator& ranks) {
    EXPECT_EQ(ranks.size(), GetParam());
    seen += 1 << ranks.rank();
    check_reductions(ranks);
    check_exchanges(ranks);
    check_agreements(ranks);
    check_failures(ranks);
  });
  EXPECT_EQ(seen, (1 << GetParam()) - 1);
}

// Whatever the others do meanwhile, they end, and the culprit's exception is the one that is seen.
TEST_P(ThreadRanks, DoNotWaitForOneThatFails) {
  using Wait = std::function<void(const Communicator&)>;
  const std::vector<Wait> waits = {
      [](const Communicator& ranks) { ranks.barrier(); },
      [](const Communicator& ranks) { (void)ranks.sum(1.0); },
      [](const Communicator& ranks) { (void)ranks.broadcast("text", ranks.size() - 1); },
      [](const Communicator& ranks) { (void)ranks.agree(0, ""); },
      [](const Communicator& ranks) {
        std::vector<double> mine(1000, 1.0);
        std::vector<double> theirs(1000);
        const int other = ranks.rank() ^ 1;
        if (other >= ranks.size()) return ranks.barrier();
        const Message message{other, std::as_bytes(std::span(mine)),
                              std::as_writable_bytes(std::span(theirs))};
        ranks.exchange(std::span(&message, 1));
      }};
  for (const Wait& wait : waits) {
    for (int culprit = 0; culprit < GetParam(); ++culprit) {
      for (int good_rounds = 0; good_rounds < 3; ++good_rounds) {
        try {
          run_on_threads(GetParam(), [&](const Communicator& ranks) {
            for (int round = 0; round < good_rounds; ++round) (void)ranks.sum(1.0);
            if (ranks.rank() == culprit) throw std::out_of_range("the culprit's");
            wait(ranks);
            ranks.barrier();
          });
          ADD_FAILURE() << "nothing was thrown";
        } catch (const std::out_of_range& error) {
          EXPECT_STREQ(error.what(), "the culprit's");
        }
      }
    }
  }
}

// The others wait in a sum, or have ended.
TEST_P(ThreadRanks, KnowThatOneFailedAlone) {
  if (GetParam() == 1) return;
  for (const bool others_wait : {true, false}) {
    EXPECT_THROW(run_on_threads(GetParam(),
                                [&](const Communicator& ranks) {
                                  if (ranks.rank() > 0) {
                                    if (others_wait) (void)ranks.sum(1.0);
                                    return;
                                  }
                                  EXPECT_FALSE(failed_together(ranks, "a"));
                                  throw std::out_of_range("alone");
                                }),
                 std::out_of_range);
  }
}

TEST_P(ThreadRanks, DoNotWaitForOneThatHasEnded) {
  if (GetParam() == 1) return;
  EXPECT_THROW(run_on_threads(GetParam(),
                              [](const Communicator& ranks) {
                                if (ranks.rank() > 0) ranks.barrier();
                              }),
               OtherRankFailed);
}

INSTANTIATE_TEST_SUITE_P(Counts, ThreadRanks, ::testing::Values(1, 2, 3, 4, 6, 8));

TEST(LaunchedProcesses, AreReadFromTheEnvironment) {
  const auto count_with = [](const char* name, const char* value) {
    EXPECT_EQ(setenv(name, value, 1), 0);
    const int count = launched_processes();
    EXPECT_EQ(unsetenv(name), 0);
    return count;
  };
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("PMI_SIZE");
  EXPECT_EQ(launched_processes(), 1);
  EXPECT_EQ(count_with("OMPI_COMM_WORLD_SIZE", "4"), 4);
  EXPECT_EQ(count_with("PMI_SIZE", "12"), 12);
  EXPECT_EQ(count_with("PMI_SIZE", "12 and more"), 1);
  EXPECT_EQ(count_with("PMI_SIZE", "-3"), 1);
  EXPECT_EQ(count_with("PMI_SIZE", ""), 1);
}

TEST(MpiRanks, AreRefusedByABuildWithoutMpi) {
  if (has_mpi()) GTEST_SKIP() << "this build has MPI";
  EXPECT_THROW(const MpiRanks ranks, MpiError);
}

}  // namespace
}  // namespace tessera::testing
