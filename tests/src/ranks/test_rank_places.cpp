// These tests put ranks on cores of hosts that are made up.
#include <gtest/gtest.h>

#include <numeric>

#include "solvers/ranks/mpi_ranks.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "src/machine/machine.hpp"
#include "src/machine/rank_places.hpp"

namespace tessera {
namespace {

std::vector<int> cpus(int first, int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

RankPlace place(const std::string& host, std::vector<int> numbers, int host_cpus) {
  const int cores = static_cast<int>(numbers.size());
  return {host, std::move(numbers), cores, host_cpus};
}

std::vector<int> threads_of(const std::vector<RankPlace>& places) {
  std::vector<int> threads;
  for (std::size_t r = 0; r < places.size(); ++r) {
    threads.push_back(threads_of_rank(places, static_cast<int>(r)));
  }
  return threads;
}

TEST(RankThreads, AreTheCoresOfTheRanksThatShareThem) {
  using Threads = std::vector<int>;
  const RankPlace all = place("a", cpus(0, 8), 8);
  EXPECT_EQ(threads_of({all}), (Threads{8}));
  EXPECT_EQ(threads_of({all, all}), (Threads{4, 4}));
  EXPECT_EQ(threads_of({all, all, all}), (Threads{2, 2, 2}));
  EXPECT_EQ(threads_of(std::vector<RankPlace>(9, all)), Threads(9, 1));
  // Bound: each has its own.
  EXPECT_EQ(threads_of({place("a", {0, 1}, 8), place("a", {2, 3, 4}, 8)}), (Threads{2, 3}));
  // The same numbers on other hosts are other cores.
  EXPECT_EQ(threads_of({all, place("b", cpus(0, 8), 8), all}), (Threads{4, 8, 4}));
  // One of them is bound to what the other one may use as well: 7 + 1/2 and 1/2.
  EXPECT_EQ(threads_of({all, place("a", {3}, 8)}), (Threads{7, 1}));
  // 6 times 1/6, in any rounding.
  EXPECT_EQ(threads_of(std::vector<RankPlace>(6, place("a", cpus(0, 6), 6))), Threads(6, 1));
}

TEST(RankThreads, AreThoseOfTheFileIfItNamesThem) {
  const std::vector<RankPlace> places(2, place("a", cpus(0, 8), 8));
  EXPECT_EQ(thread_count(3, places, 1), 3);
  EXPECT_EQ(thread_count(0, places, 1), 4);
}

TEST(RankPlaces, AreCountedByHost) {
  const std::vector<RankPlace> places = {place("a", {0}, 2), place("b", {0}, 2),
                                         place("a", {1}, 2)};
  EXPECT_EQ(host_count(places), 2);
  EXPECT_EQ(max_ranks_on_host(places), 2);
}

TEST(RankPlaces, NameTheirCores) {
  EXPECT_EQ(cpus_text({}), "");
  EXPECT_EQ(cpus_text({3}), "3");
  EXPECT_EQ(cpus_text({0, 1, 2, 3, 8, 10, 11}), "0-3, 8, 10-11");
}

TEST(Binding, IsRightWhereEveryRankHasACoreAndNoneIsIdle) {
  const RankPlace all = place("a", cpus(0, 8), 8);
  EXPECT_EQ(binding_warning({all, all, all}), "");
  EXPECT_EQ(binding_warning({place("a", {0}, 2), place("a", {1}, 2)}), "");
  EXPECT_EQ(binding_warning({place("a", cpus(0, 4), 8), place("a", cpus(4, 4), 8)}), "");
  EXPECT_EQ(binding_warning({all, place("b", cpus(0, 8), 8)}), "");
}

TEST(Binding, IsWrongWhereRanksShareCoresThoughOthersAreIdle) {
  EXPECT_EQ(binding_warning({place("a", {0}, 8), place("a", {0}, 8), place("a", {1, 2}, 8)}),
            "ranks 0-1 on a share core 0 of 8: mpirun --bind-to none lets each have all");
  EXPECT_EQ(binding_warning({place("a", {0, 1}, 8), place("a", {0, 1}, 8), place("a", {0, 1}, 8)}),
            "ranks 0-2 on a share cores 0-1 of 8: mpirun --bind-to none lets each have all");
}

TEST(Binding, IsWrongWhereThereAreFewerCoresThanRanks) {
  EXPECT_EQ(binding_warning(std::vector<RankPlace>(3, place("b", {0, 1}, 2))),
            "3 ranks on b have 2 cores: fewer ranks are faster");
  EXPECT_EQ(binding_warning(std::vector<RankPlace>(2, place("b", {0}, 1))),
            "2 ranks on b have 1 core: fewer ranks are faster");
}

TEST(Binding, IsWrongWhereThreadsHaveASingleCore) {
  EXPECT_EQ(binding_warning({place("a", cpus(0, 8), 8), place("b", {0}, 8), place("b", {1}, 8)}),
            "ranks 1-2 on b have one core, and 6 of 8 are idle: mpirun --bind-to none lets each "
            "have all");
  // Two threads of one core.
  EXPECT_EQ(binding_warning({{"a", {0, 4}, 1, 8}}),
            "rank 0 on a has one core, and 6 of 8 are idle: mpirun --bind-to none lets each have "
            "all");
}

TEST(RankPlaces, AreGatheredFromAllRanks) {
  run_on_threads(3, [](const Communicator& ranks) {
    const std::vector<RankPlace> places = gather_places(ranks);
    ASSERT_EQ(places.size(), 3U);
    for (const RankPlace& one : places) {
      EXPECT_FALSE(one.host.empty());
      EXPECT_EQ(one.host, places[0].host);
      EXPECT_FALSE(one.cpus.empty());
      EXPECT_GE(one.cores, 1);
      EXPECT_GE(one.host_cpus, 1);
    }
  });
  EXPECT_EQ(gather_places(single_rank()), std::vector<RankPlace>{this_place()});
}

TEST(Versions, HaveToBeTheSameOnAllRanks) {
  run_on_threads(3, [](const Communicator& ranks) {
    EXPECT_NO_THROW(require_same_version(ranks));
    EXPECT_NO_THROW(require_same_version(ranks, "1.2"));
    try {
      require_same_version(ranks, ranks.rank() == 2 ? "1.2.1" : "1.2");
      ADD_FAILURE() << "not refused on rank " << ranks.rank();
    } catch (const MpiError& error) {
      const std::string host = this_place().host;
      EXPECT_EQ(error.what(), "the processes are of different versions: rank 0 on " + host +
                                  " is 1.2, rank 2 on " + host +
                                  " is 1.2.1; all hosts need the same program");
    }
  });
}

}  // namespace
}  // namespace tessera
