// These are problems on several ranks, and beside each the same on one.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "solvers/ranks/thread_ranks.hpp"
#include "tests/operators/ranks/rank_problem.hpp"
#include "tests/random_values.hpp"

namespace tessera::testing {

/// A problem on one rank, and this rank's part of it.
struct RankCase {
  RankCase(const Communicator& ranks, const RankGrid& grid, Problem problem)
      : whole(std::move(problem)), mine(ranks, {whole.discretization->mesh, grid}, whole) {}
  RankCase(const Communicator& ranks, const RankGrid& grid, const ProblemOptions& options)
      : RankCase(ranks, grid, make_problem(options)) {}

  const Discretization& space() const { return *whole.discretization; }

  Problem whole;
  RankProblem mine;
};

/// Of 1, 2, 3, 4 and 6 ranks.
inline std::vector<RankGrid> rank_grids() {
  return {{1, 1, 1}, {2, 1, 1}, {1, 3, 1}, {2, 2, 1}, {1, 2, 2}, {3, 2, 1}, {1, 2, 3}};
}

inline std::string grid_name(const ::testing::TestParamInfo<RankGrid>& info) {
  const RankGrid& grid = info.param;
  return std::to_string(grid[0]) + "x" + std::to_string(grid[1]) + "x" + std::to_string(grid[2]);
}

/// Problems with parts of unequal sizes in 2D, where the grid is flat, and in 3D; with straight,
/// graded and curved cells.
class OnRanks : public ::testing::TestWithParam<RankGrid> {
 protected:
  static int count() { return GetParam()[0] * GetParam()[1] * GetParam()[2]; }

  static std::vector<ProblemOptions> cases() {
    const RankGrid& grid = GetParam();
    std::vector<ProblemOptions> all;
    for (int dimension = grid[2] > 1 ? 3 : 2; dimension <= 3; ++dimension) {
      ProblemOptions options;
      options.dimension = dimension;
      options.cells = {grid[0] + 1, grid[1] + 1, dimension == 3 ? grid[2] + 1 : 1};
      for (const Geometry geometry : {Geometry::cartesian, Geometry::graded, Geometry::curved}) {
        options.geometry = geometry;
        options.degree = 1 + static_cast<int>(all.size()) % 3;
        all.push_back(options);
      }
    }
    return all;
  }
  /// Calls f(communicator, case) on all ranks for each.
  template <class F>
  static void for_each_case(F&& f) {
    run_on_threads(count(), [&](const Communicator& ranks) {
      for (const ProblemOptions& options : cases()) {
        SCOPED_TRACE(describe(options));
        f(ranks, RankCase(ranks, GetParam(), options));
      }
    });
  }
};

}  // namespace tessera::testing
