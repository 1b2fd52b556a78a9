// These checks hold what several ranks compute to what one computes; all ranks call them.
#pragma once

#include <vector>

#include "solvers/preconditioner.hpp"
#include "solvers/solver.hpp"
#include "tests/operators/multigrid/multigrid_cases.hpp"
#include "tests/operators/ranks/rank_problem.hpp"

namespace tessera::testing {

/// What two ways of adding the same numbers may differ by.
template <class T>
constexpr double rank_tolerance() {
  return sizeof(T) == sizeof(double) ? 1e-13 : 2e-5;
}

// In the memory of Space: ranks that compute on GPUs may share one.

/// A x and the diagonal of every suitable strategy: to rounding those of one rank, and on all ranks
/// with the same bits.
template <class T, class Space>
void check_operators(const Communicator& ranks, const RankGrid& grid,
                     const ProblemOptions& options);

/// Dirichlet values and load vectors.
void check_load(const Communicator& ranks, const RankGrid& grid, const ProblemOptions& options);

/// Scalar products, norms, and random numbers of vectors.
template <class Space>
void check_sums(const Communicator& ranks, const RankGrid& grid, const ProblemOptions& options);

enum class RankPreconditioner { none, jacobi, chebyshev };

/// A solve on one rank or several, and x of the whole.
struct RankSolve {
  SolveReport report;
  std::vector<double> x;
};

/// Solves with a random right-hand side from a random guess.
template <class Space>
RankSolve solve_on_ranks(const Communicator& ranks, const RankGrid& grid,
                         const ProblemOptions& options, const StrategyName& strategy,
                         SolverMethod method, RankPreconditioner preconditioner,
                         const SolveOptions& solve_options = to_tolerance(1e-12));

/// Iterations that differ by one at most, solutions that differ by 1e-10 at most.
void expect_same_solution(const RankSolve& one, const RankSolve& several);

}  // namespace tessera::testing
