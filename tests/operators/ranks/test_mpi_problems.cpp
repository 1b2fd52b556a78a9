// These tests hold what MPI's processes compute to one rank's, and to that of threads; mpirun
// starts them.
#include <gtest/gtest.h>

#include "solvers/ranks/thread_ranks.hpp"
#include "tests/operators/ranks/rank_checks.hpp"
#include "tests/solvers/ranks/mpi_world.hpp"

namespace tessera::testing {
namespace {

RankGrid grid_of(int count) {
  switch (count) {
    case 4:
      return {2, 1, 2};
    case 6:
      return {1, 2, 3};
    case 8:
      return {2, 2, 2};
    default:
      return {1, 1, count};
  }
}

ProblemOptions options_of(int count) { return {.cells = {3, 4, Index{count} + 1}}; }

TEST(ProcessesWithAPart, ComputeAsOneRank) {
  const RankGrid grid = grid_of(mpi_world().size());
  ProblemOptions options = options_of(mpi_world().size());
  check_operators<double, Host>(mpi_world(), grid, options);
  options.geometry = Geometry::graded;
  options.coefficient = Coefficient::constant;
  check_operators<float, Host>(mpi_world(), grid, options);
  check_load(mpi_world(), grid, options);
  check_sums<Host>(mpi_world(), grid, options);
}

TEST(ProcessesWithAPart, SolveAsOneRankAndWithTheBitsOfThreads) {
  const int count = mpi_world().size();
  const ProblemOptions options = options_of(count);
  for (const RankPreconditioner m :
       {RankPreconditioner::none, RankPreconditioner::jacobi, RankPreconditioner::chebyshev}) {
    const auto solve = [&](const Communicator& ranks, const RankGrid& grid) {
      return solve_on_ranks<Host>(ranks, grid, options, {"tensor", "coloring"}, SolverMethod::cg,
                                  m);
    };
    const RankSolve processes = solve(mpi_world(), grid_of(count));
    EXPECT_EQ(processes.report.status, SolveStatus::converged);
    expect_same_solution(solve(single_rank(), {1, 1, 1}), processes);
    RankSolve threads;
    run_on_threads(count, [&](const Communicator& ranks) {
      RankSolve mine = solve(ranks, grid_of(count));
      if (ranks.rank() == 0) threads = std::move(mine);
    });
    EXPECT_EQ(threads.report.history, processes.report.history);
    EXPECT_TRUE(same_bits(vector_of<double>(threads.x), vector_of<double>(processes.x)));
  }
}

}  // namespace
}  // namespace tessera::testing
