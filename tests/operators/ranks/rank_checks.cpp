// This file computes on ranks what one rank computes, and compares.
#include "tests/operators/ranks/rank_checks.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "operators/load/load_vector.hpp"
#include "solvers/krylov/methods.hpp"
#include "solvers/memory/dot_products.hpp"
#include "solvers/preconditioners/chebyshev.hpp"
#include "tests/operators/suitable.hpp"

namespace tessera::testing {
namespace {

BoxPartition partition_of(const Problem& whole, const RankGrid& grid) {
  return {whole.discretization->mesh, grid};
}

template <class T>
void expect_near(const RankProblem& mine, const HostVector<T>& several, const HostVector<T>& one,
                 const std::string& what) {
  EXPECT_TRUE(mine.agrees(several)) << what;
  const std::vector<double> gathered = mine.gathered(several);
  EXPECT_LE(relative_difference(one, gathered), rank_tolerance<T>()) << what;
}

}  // namespace

template <class T>
void check_operators(const Communicator& ranks, const RankGrid& grid,
                     const ProblemOptions& options) {
  const Problem whole = make_problem(options);
  const RankProblem mine(ranks, partition_of(whole, grid), whole);
  const std::vector<double> values = random_input<T>(whole.size(), 17);
  const HostVector<T> x = mine.taken<T>(values);
  const HostVector<T> whole_x = vector_of<T>(values);
  for (const StrategyName& strategy : host_variants(whole.form)) {
    const std::string what = strategy.text() + ": " + describe(options);
    const auto one = make_operator<T>(strategy, whole.form);
    const auto several = mine.distributed<T>(strategy);
    HostVector<T> y(mine.layout());
    fill(y, std::numeric_limits<T>::quiet_NaN());
    several->apply(x, y);
    expect_near(mine, y, applied(*one, whole_x), what);
    fill(y, std::numeric_limits<T>::quiet_NaN());
    several->diagonal(y);
    expect_near(mine, y, diagonal_of(*one), "diagonal of " + what);
  }
}

template void check_operators<double>(const Communicator&, const RankGrid&, const ProblemOptions&);
template void check_operators<float>(const Communicator&, const RankGrid&, const ProblemOptions&);

void check_load(const Communicator& ranks, const RankGrid& grid, const ProblemOptions& options) {
  const Problem whole = make_problem(options);
  const RankProblem mine(ranks, partition_of(whole, grid), whole);
  const ScalarField source =
      field_of([](double x, double y, double z) { return std::sin(3 * x + y) + z * x; });
  std::vector<ScalarField> values;
  for (int face = 0; face < 6; ++face) {
    values.push_back(field_of([face](double x, double y, double z) {
      return 1.0 + face + 0.3 * std::cos(x + 2 * y + z);
    }));
  }
  std::vector<FluxTerm> fluxes;
  for (int face = 0; face < face_count(options.dimension); ++face) {
    if (!whole.form.dirichlet[face]) fluxes.push_back({face, values[face]});
  }
  const auto load = [&](const BilinearForm& form) {
    std::pair<HostVector<double>, HostVector<double>> u_and_b{HostVector<double>(form.layout()),
                                                              HostVector<double>(form.layout())};
    auto& [u, b] = u_and_b;
    fill(b, std::numeric_limits<double>::quiet_NaN());
    set_dirichlet_values(*form.discretization, form.dirichlet, values, u);
    assemble_load(form, source, fluxes, u, b);
    return u_and_b;
  };
  const auto [whole_u, whole_b] = load(whole.form);
  const auto [u, b] = load(mine.form());
  EXPECT_TRUE(mine.agrees(u)) << describe(options);
  EXPECT_TRUE(same_bits(whole_u, vector_of<double>(mine.gathered(u)))) << describe(options);
  expect_near(mine, b, whole_b, "load: " + describe(options));
}

void check_sums(const Communicator& ranks, const RankGrid& grid, const ProblemOptions& options) {
  const Problem whole = make_problem(options);
  const RankProblem mine(ranks, partition_of(whole, grid), whole);
  EXPECT_EQ(mine.layout().whole_size(), whole.size());
  const std::vector<double> x_values = random_values(whole.size(), 3);
  const std::vector<double> y_values = random_values(whole.size(), 4);
  const HostVector<double> whole_x = vector_of<double>(x_values);
  const HostVector<double> whole_y = vector_of<double>(y_values);
  const HostVector<double> x = mine.taken<double>(x_values);
  HostVector<double> y = mine.taken<double>(y_values);
  const double scale = norm(whole_x) * norm(whole_y);
  const auto expect_sum = [&](double sum, double expected) {
    EXPECT_NEAR(sum, expected, 1e-14 * scale) << describe(options);
    // The same bits on all ranks.
    for (const double other : ranks.all_gather(sum)) EXPECT_EQ(other, sum);
  };
  expect_sum(dot(x, y), dot(whole_x, whole_y));
  expect_sum(norm(x), norm(whole_x));
  const HostVector<double>* const vectors[] = {&x, &y};
  double sums[2];
  DotProducts<Host>(2).sum<double>(vectors, y, sums);
  expect_sum(sums[0], dot(whole_x, whole_y));
  expect_sum(sums[1], dot(whole_y, whole_y));
  HostVector<double> difference = vector_of<double>(y_values);
  const double square = subtract_from(whole_x, difference);
  expect_sum(subtract_from(x, y), square);
  HostVector<double> whole_random(whole.size());
  fill_random(whole_random);
  fill(y, std::numeric_limits<double>::quiet_NaN());
  fill_random(y);
  EXPECT_TRUE(mine.agrees(y));
  EXPECT_TRUE(same_bits(whole_random, vector_of<double>(mine.gathered(y))));
}

RankSolve solve_on_ranks(const Communicator& ranks, const RankGrid& grid,
                         const ProblemOptions& options, const StrategyName& strategy,
                         SolverMethod method, RankPreconditioner preconditioner,
                         const SolveOptions& solve_options) {
  const Problem whole = make_problem(options);
  const RankProblem mine(ranks, partition_of(whole, grid), whole);
  const auto a = mine.distributed<double>(strategy);
  std::unique_ptr<Preconditioner<double, Host>> m;
  if (preconditioner == RankPreconditioner::jacobi) m = std::make_unique<Jacobi<double>>(*a);
  if (preconditioner == RankPreconditioner::chebyshev) {
    HostVector<double> inverse(a->layout());
    a->diagonal(inverse);
    invert_entries(inverse);
    const Spectrum spectrum = estimate_spectrum(*a, inverse, 12);
    m = std::make_unique<Chebyshev<double, Host>>(
        *a, std::move(inverse), chebyshev_steps(4, spectrum.largest / 30, 1.1 * spectrum.largest));
  }
  const auto solver = make_solver<double, Host>(method, *a, m.get(), {});
  const HostVector<double> b = mine.taken<double>(random_values(whole.size(), 5));
  HostVector<double> x = mine.taken<double>(random_values(whole.size(), 6));
  RankSolve solve;
  solve.report = solver->solve(b, x, solve_options);
  EXPECT_TRUE(mine.agrees(x)) << describe(options);
  solve.x = mine.gathered(x);
  return solve;
}

void expect_same_solution(const RankSolve& one, const RankSolve& several) {
  EXPECT_EQ(several.report.status, one.report.status);
  EXPECT_LE(std::abs(several.report.iterations - one.report.iterations), 1)
      << several.report.iterations << " iterations, and on one rank " << one.report.iterations;
  EXPECT_LE(relative_difference(vector_of<double>(several.x), one.x), 1e-10);
}

}  // namespace tessera::testing
