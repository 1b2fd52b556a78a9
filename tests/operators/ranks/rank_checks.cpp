// This file computes on ranks what one rank computes, and compares.
#include "tests/operators/ranks/rank_checks.hpp"

#include <cmath>

#include "operators/load/load_vector.hpp"
#include "tests/operators/ranks/rank_check_bodies.hpp"

namespace tessera::testing {

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
    const DirichletValues g(form, values);
    g.set(u);
    assemble_load(form, source, fluxes, g, b);
    return u_and_b;
  };
  const auto [whole_u, whole_b] = load(whole.form);
  const auto [u, b] = load(mine.form());
  EXPECT_TRUE(mine.agrees(u)) << describe(options);
  EXPECT_TRUE(same_bits(whole_u, vector_of<double>(mine.gathered(u)))) << describe(options);
  expect_near(mine, b, whole_b, "load: " + describe(options));
}

void expect_same_solution(const RankSolve& one, const RankSolve& several) {
  EXPECT_EQ(several.report.status, one.report.status);
  EXPECT_LE(std::abs(several.report.iterations - one.report.iterations), 1)
      << several.report.iterations << " iterations, and on one rank " << one.report.iterations;
  EXPECT_LE(relative_difference(vector_of<double>(several.x), one.x), 1e-10);
}

TESSERA_INSTANTIATE_RANK_CHECKS(Host)

}  // namespace tessera::testing
