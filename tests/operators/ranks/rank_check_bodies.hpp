// These are the bodies of checks that are instantiated for host and GPU.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

#include "solvers/krylov/methods.hpp"
#include "solvers/memory/dot_products.hpp"
#include "solvers/preconditioners/chebyshev.hpp"
#include "tests/operators/ranks/rank_checks.hpp"
#include "tests/operators/strategy_checks.hpp"
#include "tests/operators/suitable.hpp"

namespace tessera::testing {

inline BoxPartition partition_of(const Problem& whole, const RankGrid& grid) {
  return {whole.discretization->mesh, grid};
}

template <class T>
void expect_near(const RankProblem& mine, const HostVector<T>& several, const HostVector<T>& one,
                 const std::string& what, double tolerance = rank_tolerance<T>()) {
  EXPECT_TRUE(mine.agrees(several)) << what;
  const std::vector<double> gathered = mine.gathered(several);
  EXPECT_LE(relative_difference(one, gathered), tolerance) << what;
}

template <class T, class Space>
void check_operators(const Communicator& ranks, const RankGrid& grid,
                     const ProblemOptions& options) {
  constexpr Processor kPlace = kProcessorOf<Space>;
  const Problem whole = make_problem(options);
  const RankProblem mine(ranks, partition_of(whole, grid), whole, kPlace);
  const std::vector<double> values = random_input<T>(whole.size(), 17);
  const HostVector<T> x = mine.taken<T>(values);
  const HostVector<T> whole_x = vector_of<T>(values);
  for (const StrategyName& strategy : variants(right_strategies(kPlace), whole.form, kPlace)) {
    const std::string what = strategy.text() + ": " + describe(options);
    const auto one = make_operator<T, Space>(strategy, whole.form);
    const auto several = mine.distributed<T, Space>(strategy);
    // Each rank rounds what its own cells add.
    const double tolerance = with_rounding(rank_tolerance<T>(), strategy);
    expect_near(mine, applied(*several, x), applied(*one, whole_x), what, tolerance);
    expect_near(mine, diagonal_of(*several), diagonal_of(*one), "diagonal of " + what, tolerance);
  }
}

template <class Space>
void check_sums(const Communicator& ranks, const RankGrid& grid, const ProblemOptions& options) {
  const Problem whole = make_problem(options);
  const RankProblem mine(ranks, partition_of(whole, grid), whole, kProcessorOf<Space>);
  EXPECT_EQ(mine.layout().whole_size(), whole.size());
  const std::vector<double> x_values = random_values(whole.size(), 3);
  const std::vector<double> y_values = random_values(whole.size(), 4);
  const HostVector<double> whole_x = vector_of<double>(x_values);
  const HostVector<double> whole_y = vector_of<double>(y_values);
  const Vector<double, Space> x = in_space<Space>(mine.taken<double>(x_values));
  Vector<double, Space> y = in_space<Space>(mine.taken<double>(y_values));
  const double scale = norm(whole_x) * norm(whole_y);
  const auto expect_sum = [&](double sum, double expected) {
    EXPECT_NEAR(sum, expected, 1e-14 * scale) << describe(options);
    // The same bits on all ranks.
    for (const double other : ranks.all_gather(sum)) EXPECT_EQ(other, sum);
  };
  expect_sum(dot(x, y), dot(whole_x, whole_y));
  const Vector<double, Space>* const vectors[] = {&x, &y};
  double sums[2];
  DotProducts<Space>(2).template sum<double>(vectors, y, sums);
  expect_sum(sums[0], dot(whole_x, whole_y));
  expect_sum(sums[1], dot(whole_y, whole_y));
  if constexpr (std::is_same_v<Space, Host>) {
    expect_sum(norm(x), norm(whole_x));
    HostVector<double> difference = vector_of<double>(y_values);
    const double square = subtract_from(whole_x, difference);
    expect_sum(subtract_from(x, y), square);
  }
  HostVector<double> whole_random(whole.size());
  fill_random(whole_random);
  fill(y, std::numeric_limits<double>::quiet_NaN());
  fill_random(y);
  const HostVector<double> random = testing::on_host(y);
  EXPECT_TRUE(mine.agrees(random));
  EXPECT_TRUE(same_bits(whole_random, vector_of<double>(mine.gathered(random))));
}

template <class Space>
RankSolve solve_on_ranks(const Communicator& ranks, const RankGrid& grid,
                         const ProblemOptions& options, const StrategyName& strategy,
                         SolverMethod method, RankPreconditioner preconditioner,
                         const SolveOptions& solve_options) {
  const Problem whole = make_problem(options);
  const RankProblem mine(ranks, partition_of(whole, grid), whole, kProcessorOf<Space>);
  const auto a = mine.distributed<double, Space>(strategy);
  std::unique_ptr<Preconditioner<double, Space>> m;
  if (preconditioner == RankPreconditioner::jacobi) {
    m = std::make_unique<Jacobi<double, Space>>(*a);
  }
  if (preconditioner == RankPreconditioner::chebyshev) {
    Vector<double, Space> inverse(a->layout());
    a->diagonal(inverse);
    invert_entries(inverse);
    const Spectrum spectrum = estimate_spectrum(*a, inverse, 12);
    m = std::make_unique<Chebyshev<double, Space>>(
        *a, std::move(inverse), chebyshev_steps(4, spectrum.largest / 30, 1.1 * spectrum.largest));
  }
  const auto solver = make_solver<double, Space>(method, *a, m.get(), {});
  const auto b = in_space<Space>(mine.taken<double>(random_values(whole.size(), 5)));
  auto x = in_space<Space>(mine.taken<double>(random_values(whole.size(), 6)));
  RankSolve solve;
  solve.report = solver->solve(b, x, solve_options);
  const HostVector<double> solution = testing::on_host(x);
  EXPECT_TRUE(mine.agrees(solution)) << describe(options);
  solve.x = mine.gathered(solution);
  return solve;
}

/// Of one memory.
#define TESSERA_INSTANTIATE_RANK_CHECKS(Space)                                                  \
  template void check_operators<double, Space>(const Communicator&, const RankGrid&,            \
                                               const ProblemOptions&);                          \
  template void check_operators<float, Space>(const Communicator&, const RankGrid&,             \
                                              const ProblemOptions&);                           \
  template void check_sums<Space>(const Communicator&, const RankGrid&, const ProblemOptions&); \
  template RankSolve solve_on_ranks<Space>(const Communicator&, const RankGrid&,                \
                                           const ProblemOptions&, const StrategyName&,          \
                                           SolverMethod, RankPreconditioner, const SolveOptions&);

}  // namespace tessera::testing
