// These tests move vectors of ranks, which are threads, through rank 0 in chunks.
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "solvers/ranks/thread_ranks.hpp"
#include "solvers/ranks/whole_vector.hpp"
#include "tests/operators/ranks/rank_problem.hpp"

namespace tessera::testing {
namespace {

constexpr std::array<RankGrid, 5> kGrids = {
    {{1, 1, 1}, {1, 1, 3}, {2, 1, 2}, {1, 3, 1}, {2, 2, 2}}};
constexpr std::int64_t kChunks[] = {1, 7, 64, 100'000};

using Check = std::function<void(const RankProblem& mine, const std::vector<double>& values)>;

// Calls check(rank's part, values of the whole) on all ranks of several grids.
void on_grids(const ProblemOptions& options, const Check& check) {
  for (const RankGrid& grid : kGrids) {
    if (options.dimension == 2 && grid[2] > 1) continue;
    run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
      const Problem whole = make_problem(options);
      const BoxPartition partition(whole.discretization->mesh, grid);
      const RankProblem mine(ranks, partition, whole);
      check(mine, random_values(whole.size(), 8));
    });
  }
}

const ProblemOptions kProblems[] = {{.cells = {3, 4, 5}}, {.dimension = 2, .cells = {4, 5, 1}}};

std::vector<double> gathered(const HostVector<double>& x, std::int64_t chunk) {
  std::vector<double> result;
  const auto take = [&](std::int64_t first, std::span<const double> values) {
    EXPECT_EQ(first, static_cast<std::int64_t>(result.size()));
    EXPECT_LE(static_cast<std::int64_t>(values.size()), chunk);
    result.insert(result.end(), values.begin(), values.end());
  };
  EXPECT_EQ(gather_whole(x, chunk, take), Gathering::done);
  return result;
}

TEST(WholeVectors, AreGatheredInTheOrderOfTheWhole) {
  for (const ProblemOptions& options : kProblems) {
    on_grids(options, [](const RankProblem& mine, const std::vector<double>& values) {
      const HostVector<double> x = mine.taken<double>(values);
      for (const std::int64_t chunk : kChunks) {
        const std::vector<double> all = gathered(x, chunk);
        EXPECT_EQ(all, mine.part().ranks().rank() == 0 ? values : std::vector<double>());
      }
    });
  }
}

TEST(WholeVectors, AreScatteredToThePartsOfRanks) {
  for (const ProblemOptions& options : kProblems) {
    on_grids(options, [](const RankProblem& mine, const std::vector<double>& values) {
      for (const std::int64_t chunk : kChunks) {
        HostVector<double> x(mine.layout());
        fill(x, std::numeric_limits<double>::quiet_NaN());
        const auto give = [&](std::int64_t first, std::span<double> to) {
          EXPECT_EQ(mine.part().ranks().rank(), 0);
          std::copy_n(values.begin() + first, to.size(), to.begin());
        };
        EXPECT_TRUE(scatter_whole(chunk, give, x));
        EXPECT_TRUE(same_bits(x, mine.taken<double>(values)));
      }
    });
  }
}

TEST(WholeVectors, OfOneRankAloneNeedNoRanks) {
  const std::vector<double> values = random_values(100, 3);
  HostVector<double> x = vector_of<double>(values);
  EXPECT_EQ(gathered(x, 33), values);
  EXPECT_EQ(gather_whole(x, 33, {}), Gathering::refused);
  fill(x, 0.0);
  EXPECT_FALSE(scatter_whole(33, {}, x));
  EXPECT_TRUE(scatter_whole(
      33, [&](auto first, auto to) { std::copy_n(values.begin() + first, to.size(), to.begin()); },
      x));
  EXPECT_TRUE(same_bits(x, vector_of<double>(values)));
}

// Nobody is left waiting, and what follows goes on.
TEST(WholeVectors, ThatRankZeroCannotTakeFailOnAll) {
  on_grids(kProblems[0], [](const RankProblem& mine, const std::vector<double>& values) {
    const Communicator& ranks = mine.part().ranks();
    HostVector<double> x = mine.taken<double>(values);
    EXPECT_EQ(gather_whole(x, 50, {}), Gathering::refused);
    EXPECT_FALSE(scatter_whole(50, {}, x));
    const auto fail_at = [](std::int64_t number) {
      return [number](std::int64_t first, auto) {
        if (first >= number) throw std::runtime_error("full");
      };
    };
    if (ranks.rank() == 0) {
      EXPECT_THROW(gather_whole(x, 50, fail_at(100)), std::runtime_error);
      EXPECT_THROW(scatter_whole(50, fail_at(100), x), std::runtime_error);
    } else {
      EXPECT_EQ(gather_whole(x, 50, {}), Gathering::failed);
      EXPECT_FALSE(scatter_whole(50, {}, x));
    }
    x = mine.taken<double>(values);
    EXPECT_EQ(gathered(x, 50), ranks.rank() == 0 ? values : std::vector<double>());
  });
}

}  // namespace
}  // namespace tessera::testing
