// These tests hold conjugate gradients in one kernel to those on the host.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "operators/form/updatable.hpp"
#include "solvers/krylov/cg.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/kronecker/kronecker_checks.hpp"

namespace tessera::testing {
namespace {

struct Solve {
  SolveReport report;
  HostVector<double> x;
};

template <class Space>
Solve solve(const LinearOperator<double, Space>& a, const SolveOptions& options) {
  const Index n = a.size();
  const auto b = vector_in<double, Space>(random_values(n, 41));
  auto x = vector_in<double, Space>(random_values(n, 43));
  const auto solver = make_cg<double, Space>(a, nullptr);
  // The second one finds what the first one has left in the kernel's memory.
  SolveReport first = solver->solve(b, x, options);
  x = vector_in<double, Space>(random_values(n, 43));
  SolveReport report = solver->solve(b, x, options);
  EXPECT_EQ(report.history, first.history);
  return {std::move(report), on_host(x)};
}

SolveOptions iterations(int count) {
  SolveOptions options;
  options.relative_tolerance = 1e-300;
  options.max_iterations = count;
  return options;
}

// Rounding grows in conjugate gradients, on some matrices tenfold an iteration.
void expect_equal(const Solve& device, const Solve& host, double tolerance) {
  ASSERT_EQ(device.report.history.size(), host.report.history.size());
  for (std::size_t k = 0; k < host.report.history.size(); ++k) {
    // Where the residual vanishes, rounding is left of it.
    ASSERT_NEAR(device.report.history[k], host.report.history[k],
                tolerance * host.report.history[k] + 1e-14)
        << "iteration " << k;
  }
  EXPECT_EQ(device.report.status, host.report.status);
  EXPECT_LT(relative_difference(device.x, values_of(host.x)), tolerance);
}

void expect_equal_on_host(const Problem& problem, int count) {
  const auto host = make_kronecker<double, Host>(problem.form);
  const auto device = make_kronecker<double, Device>(problem.form);
  if (device->fused() == nullptr) return;
  if (mesh_kind(*problem.discretization) == MeshKind::uniform) {
    ASSERT_NE(device->fused()->make_resident_cg(), nullptr);
  }
  expect_equal(solve(*device, iterations(count)), solve(*host, iterations(count)), 1e-9);
}

class ResidentCg : public ::testing::TestWithParam<int> {};

TEST_P(ResidentCg, EqualsTheHost) {
  TESSERA_REQUIRE_DEVICE();
  const int p = GetParam();
  // One brick, some, and as many as there are, with one and with several cells along an axis.
  for (const auto& [dimension, cells] :
       std::vector<std::pair<int, IndexTriple>>{{2, {1, 1, 1}},
                                                {2, {3, 2, 1}},
                                                {2, {37, 29, 1}},
                                                {2, {4, 131, 1}},
                                                {3, {1, 1, 1}},
                                                {3, {3, 2, 4}},
                                                {3, {9, 11, 7}},
                                                {3, {40 / p + 1, 43 / p, 37 / p}}}) {
    for (const Boundary boundary : {Boundary::none, Boundary::dirichlet}) {
      for (const Reaction reaction : {Reaction::none, Reaction::constant}) {
        // A singular matrix has no solution for this right-hand side.
        if (boundary == Boundary::none && reaction == Reaction::none) continue;
        ProblemOptions options = kronecker_options(dimension, p, cells);
        options.boundary = boundary;
        options.reaction = reaction;
        SCOPED_TRACE(describe(options));
        expect_equal_on_host(make_problem(options), 7);
      }
    }
    // Robin on all other faces.
    for (int face = 0; face < 2 * dimension; ++face) {
      SCOPED_TRACE(::testing::Message() << "Dirichlet on face " << face);
      ProblemOptions options = kronecker_options(dimension, p, cells);
      options.reaction = face % 2 == 0 ? Reaction::none : Reaction::constant;
      expect_equal_on_host(make_one_dirichlet_face_problem(options, face), 5);
    }
  }
}

// Meshes that fit only turned: x along the middle or the outer axis of bricks.
TEST(ResidentCgOnTurnedMeshes, EqualsTheHost) {
  TESSERA_REQUIRE_DEVICE();
  for (const auto& [p, cells] :
       std::vector<std::pair<int, IndexTriple>>{{8, {12, 12, 13}}, {8, {12, 13, 12}}}) {
    ProblemOptions options = kronecker_options(3, p, cells);
    options.reaction = Reaction::constant;
    SCOPED_TRACE(describe(options));
    for (const int face : {0, 3, 5}) {
      expect_equal_on_host(make_one_dirichlet_face_problem(options, face), 5);
    }
  }
}

std::string degree_name(const ::testing::TestParamInfo<int>& info) {
  return "p" + std::to_string(info.param);
}
INSTANTIATE_TEST_SUITE_P(Degrees, ResidentCg, ::testing::Range(1, 9), degree_name);

Problem dirichlet_problem() {
  ProblemOptions options = kronecker_options(3, 3, {8, 7, 6});
  options.boundary = Boundary::dirichlet;
  return make_problem(options);
}

// More iterations than one kernel does, and fewer.
TEST(ResidentCgEnds, WhereItIsTold) {
  TESSERA_REQUIRE_DEVICE();
  const Problem problem = dirichlet_problem();
  const auto a = make_kronecker<double, Device>(problem.form);
  for (const int count : {1, 2, 31, 32, 33, 70}) {
    const Solve solved = solve(*a, iterations(count));
    EXPECT_EQ(solved.report.status, SolveStatus::iteration_limit);
    EXPECT_EQ(solved.report.iterations, count);
  }
}

TEST(ResidentCgEnds, AtTheTolerance) {
  TESSERA_REQUIRE_DEVICE();
  const Problem problem = dirichlet_problem();
  SolveOptions options;
  options.relative_tolerance = 1e-11;
  for (const int replacement_interval : {0, 10}) {
    options.replacement_interval = replacement_interval;
    const Solve device = solve(*make_kronecker<double, Device>(problem.form), options);
    const Solve host = solve(*make_kronecker<double, Host>(problem.form), options);
    EXPECT_EQ(device.report.status, SolveStatus::converged);
    EXPECT_NEAR(device.report.iterations, host.report.iterations, 2);
    EXPECT_LT(device.report.true_relative_residual, 1e-11);
    EXPECT_LT(relative_difference(device.x, values_of(host.x)), 1e-9);
  }
}

// After every so many iterations b - A x is computed anew, which histories show.
TEST(ResidentCgEnds, WithResidualsReplacedWhereTheHostDoes) {
  TESSERA_REQUIRE_DEVICE();
  const Problem problem = dirichlet_problem();
  const auto host = make_kronecker<double, Host>(problem.form);
  const auto device = make_kronecker<double, Device>(problem.form);
  for (const int interval : {3, 10, 40}) {
    SolveOptions options = iterations(12);
    options.replacement_interval = interval;
    expect_equal(solve(*device, options), solve(*host, options), 1e-9);
  }
}

TEST(ResidentCgUpdates, TakeAnotherReaction) {
  TESSERA_REQUIRE_DEVICE();
  ProblemOptions options = kronecker_options(3, 2, {5, 6, 7});
  options.boundary = Boundary::dirichlet;
  options.reaction = Reaction::constant;
  const Problem problem = make_problem(options);
  const auto a = make_kronecker<double, Device>(problem.form);
  const auto solver = make_cg<double, Device>(*a, nullptr);
  ASSERT_TRUE(solver->iterates_in_one_kernel());
  const Index n = a->size();
  const auto b = vector_in<double, Device>(random_values(n, 41));
  for (const double reaction : {3.0, 40.0}) {
    BilinearForm form = problem.form;
    form.reaction = constant_field(reaction);
    auto* const updatable = dynamic_cast<Updatable*>(a.get());
    ASSERT_NE(updatable, nullptr);
    ASSERT_EQ(updatable->update(form), Updated::yes);
    solver->update();
    auto x = vector_in<double, Device>(random_values(n, 43));
    SolveReport report = solver->solve(b, x, iterations(6));
    const Solve on_device{std::move(report), on_host(x)};
    expect_equal(on_device, solve(*make_kronecker<double, Host>(form), iterations(6)), 1e-9);
  }
}

// A right-hand side that is 0 but at constrained nodes: one iteration.
TEST(ResidentCgEnds, AtOnceWhereOneDirectionIsEnough) {
  TESSERA_REQUIRE_DEVICE();
  const Problem problem = dirichlet_problem();
  const auto a = make_kronecker<double, Device>(problem.form);
  std::vector<double> values(problem.size(), 0.0);
  values.front() = 2.0;
  values.back() = -3.0;
  const auto b = vector_in<double, Device>(values);
  auto x = vector_in<double, Device>(std::vector<double>(problem.size(), 0.0));
  const SolveReport report = make_cg<double, Device>(*a, nullptr)->solve(b, x, {});
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_EQ(report.iterations, 1);
  EXPECT_EQ(values_of(x), values);
}

TEST(ResidentCgEnds, AtANumberThatIsNone) {
  TESSERA_REQUIRE_DEVICE();
  const Problem problem = dirichlet_problem();
  const auto a = make_kronecker<double, Device>(problem.form);
  std::vector<double> values = random_values(problem.size(), 47);
  values[values.size() / 2] = 1e200;
  const auto b = vector_in<double, Device>(values);
  auto x = vector_in<double, Device>(random_values(problem.size(), 53));
  EXPECT_EQ((make_cg<double, Device>(*a, nullptr)->solve(b, x, {})).status,
            SolveStatus::not_finite);
}

}  // namespace
}  // namespace tessera::testing
