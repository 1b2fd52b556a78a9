// These problems of the whole and their parts are what multigrid on ranks is tested on.
#pragma once

#include <utility>
#include <vector>

#include "tests/operators/multigrid/multigrid_cases.hpp"
#include "tests/operators/ranks/rank_checks.hpp"

namespace tessera::testing {

inline constexpr Index kNeverGather = 0;
inline constexpr Index kAlwaysGather = 1'000'000;

inline MultigridOptions options_of(Index gather_dofs, Index small_enough = 20) {
  MultigridOptions options;
  options.rules.small_enough = small_enough;
  options.gather_dofs = gather_dofs;
  return options;
}

/// A problem of the whole, how it is shared out, and its right-hand side.
struct Shared {
  Problem whole;
  RankGrid grid;
  BoxPartition partition;
  std::vector<double> b;

  Shared(Problem problem, const RankGrid& ranks)
      : whole(std::move(problem)),
        grid(ranks),
        partition(whole.discretization->mesh, grid, {3, 3, 3}),
        b(right_hand_side(whole, *finest_operator(whole.form), 5)) {}
  Shared(const ProblemOptions& options, const RankGrid& ranks)
      : Shared(make_problem(options), ranks) {}

  int rank_count() const { return grid[0] * grid[1] * grid[2]; }
};
inline ProblemOptions options_for_ranks(int dimension) {
  return {.dimension = dimension,
          .degree = 2,
          .cells = dimension == 2 ? IndexTriple{12, 16, 1} : IndexTriple{3, 4, 12}};
}

}  // namespace tessera::testing
