// These tests look at 1D factors, and at the Kronecker operator on the host alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>
#include <vector>

#include "operators/strategy.hpp"
#include "tests/operators/kronecker/kronecker_checks.hpp"
#include "tests/operators/test_names.hpp"
#include "tests/operators/without_fused_operations.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

class HostKronecker : public ::testing::TestWithParam<DimensionAndDegree> {
 protected:
  static ProblemOptions options() {
    const auto [dimension, degree] = GetParam();
    return kronecker_options(dimension, degree, tile_cells_for(Processor::cpu, dimension, degree));
  }
};

TEST_P(HostKronecker, EqualsTheReferenceWithOtherNodesAndRules) {
  ProblemOptions options = HostKronecker::options();
  for (const NodeFamily nodes : {NodeFamily::gauss_lobatto, NodeFamily::equidistant}) {
    // Equidistant nodes of high degrees are ill-conditioned.
    if (nodes == NodeFamily::equidistant && options.degree > 8) continue;
    for (const QuadratureRule rule : {QuadratureRule::gauss, QuadratureRule::gauss_lobatto}) {
      for (const int extra : {1, 2}) {
        options.nodes = nodes;
        options.rule = rule;
        options.points = options.degree + extra;
        SCOPED_TRACE(describe(options));
        expect_equal_to_reference<double, Host>(make_problem(options));
      }
    }
  }
}

// Robin ends on all faces, folded into the factors.
TEST_P(HostKronecker, FoldsConstantRobinFaces) {
  ProblemOptions options = HostKronecker::options();
  options.boundary = Boundary::none;
  for (const Geometry geometry : {Geometry::cartesian, Geometry::graded}) {
    options.geometry = geometry;
    SCOPED_TRACE(describe(options));
    Problem problem = make_problem(options);
    for (int face = 0; face < face_count(options.dimension); ++face) {
      problem.form.robin.push_back({face, constant_field(2.0 + face)});
    }
    EXPECT_NE(make_kronecker_operator<double>(problem.form)->fused(), nullptr);
    expect_equal_to_reference<double, Host>(problem);
    expect_fused_operations_equal_compositions<double, Host>(problem);
  }
}

TEST_P(HostKronecker, HasNoFusedFormsBesideOtherRobinFaces) {
  ProblemOptions options = HostKronecker::options();
  const Problem problem = make_problem(options);
  EXPECT_EQ(make_kronecker_operator<double>(problem.form)->fused(), nullptr);
}

TEST_P(HostKronecker, CgIsTheSameWithAndWithoutFusedForms) {
  ProblemOptions options = HostKronecker::options();
  options.boundary = Boundary::dirichlet;
  const Problem problem = make_problem(options);
  const auto a = make_kronecker_operator<double>(problem.form);
  const HostVector<double> b = vector_of<double>(random_values(problem.size(), 41));
  SolveOptions solve;
  solve.relative_tolerance = 1e-10;
  solve.max_iterations = 2000;
  HostVector<double> x(problem.size());
  const SolveReport report = cg<double, Host>(*a, nullptr, b, x, solve);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_LE(report.true_relative_residual, 2e-10);
  HostVector<double> expected(problem.size());
  const SolveReport plain =
      cg<double, Host>(WithoutFusedOperations(*a), nullptr, b, expected, solve);
  EXPECT_NEAR(report.iterations, plain.iterations, 1 + plain.iterations / 50);
  EXPECT_LT(relative_difference(x, {expected.data(), expected.data() + expected.size()}), 1e-6);
}

TEST_P(HostKronecker, GivesTheSameBitsOnAnyNumberOfThreads) {
  ProblemOptions options = HostKronecker::options();
  options.cells = {options.cells[0], 8, options.dimension == 3 ? 6 : 1};
  if (options.dimension == 3 && options.degree > 4) options.cells = {2, 3, 4};
  options.boundary = Boundary::dirichlet;
  const Problem problem = make_problem(options);
  const HostVector<double> x = vector_of<double>(random_values(problem.size(), 7));
  HostVector<double> first(problem.size());
  double first_dots[2] = {};
  for (const int threads : {1, 2, 3, 7}) {
    const ThreadsInUse scope(threads);
    const auto a = make_kronecker_operator<double>(problem.form);
    HostVector<double> y = poisoned<double>(problem.size());
    double dots[2] = {};
    a->fused()->apply_dot(x, y, dots);
    if (threads == 1) {
      copy(y, first);
      std::copy_n(dots, 2, first_dots);
    }
    EXPECT_TRUE(same_bits(y, first)) << threads;
    EXPECT_EQ(dots[0], first_dots[0]) << threads;
    EXPECT_EQ(dots[1], first_dots[1]) << threads;
    const ThreadsInUse fewer(1);
    a->apply(x, y);
    EXPECT_TRUE(same_bits(y, first)) << "made for " << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, HostKronecker,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Range(1, 10)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(HighDegrees, HostKronecker, ::testing::Values(std::tuple{2, 12}), name_of);

// Long enough for streaming stores.
TEST(KroneckerLong, FusedFormsEqualCompositions) {
  ProblemOptions options = kronecker_options(3, 2, {61, 53, 50});
  options.boundary = Boundary::dirichlet;
  const Problem problem = make_problem(options);
  expect_fused_operations_equal_compositions<double, Host>(problem);
}

// Widths of equal cells do not come from the difference of large coordinates.
TEST(KroneckerEnds, AreThoseOfTheOtherStrategiesFarFromTheOrigin) {
  const BoxMesh mesh(2, {60, 7, 1}, {1e6, -3e5, 0.0}, {1e6 + 1.0, -3e5 + 2.0, 0.0});
  const Discretization discretization =
      make_discretization(mesh, make_basis(2, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 3));
  const BilinearForm form{&discretization, constant_field(1.0), {}, {}};
  const Index n = discretization.lattice.size();
  HostVector<double> ones(n);
  fill(ones, 1.0);
  HostVector<double> y = poisoned<double>(n);
  make_kronecker_operator<double>(form)->apply(ones, y);
  for (Index i = 0; i < n; ++i) EXPECT_NEAR(y[i], 0.0, 1e-11) << i;
  const HostVector<double> x = vector_of<double>(random_values(n, 3));
  HostVector<double> expected(n);
  make_operator<double>({"tensor", "serial"}, form)->apply(x, expected);
  make_kronecker_operator<double>(form)->apply(x, y);
  EXPECT_LT(relative_difference(y, {expected.data(), expected.data() + n}), 1e-12);
}

TEST(KroneckerCoefficient, FactorsOfOppositeScaleDoNotOverflow) {
  ProblemOptions options = kronecker_options(2, 3, {4, 3, 1});
  options.boundary = Boundary::mixed;
  Problem problem = make_problem(options);
  const auto big = [](double x) { return 1e40 * (2.0 + x); };
  const auto small = [](double y) { return 1e-40 * (3.0 + y); };
  problem.form.coefficient =
      field_of([=](double x, double y, double) { return big(x) * small(y); });
  problem.form.coefficient.factors = std::make_shared<const std::array<ScalarField, 3>>(std::array{
      field_of([=](double x, double, double) { return big(x); }),
      field_of([=](double, double y, double) { return small(y); }), constant_field(1.0)});
  expect_equal_to_reference<double, Host>(problem);
  expect_equal_to_reference<float, Host>(problem);
}

TEST(KroneckerSize, IsKnownBeforeItIsMade) {
  for (const int dimension : {2, 3}) {
    for (const int degree : {1, 3, 9}) {
      const Problem problem = make_problem(kronecker_options(dimension, degree, {11, 6, 3}));
      const BoxMesh& mesh = problem.discretization->mesh;
      EXPECT_EQ(make_kronecker_operator<double>(problem.form)->bytes(),
                kronecker_bytes(mesh, degree, sizeof(double)));
      EXPECT_EQ(make_kronecker_operator<float>(problem.form)->bytes(),
                kronecker_bytes(mesh, degree, sizeof(float)));
    }
  }
}

// M_ij and K_ij by a Gauss rule of p + 3 points, phi_i by Lagrange's formula.
TEST(KroneckerFactors, EqualDenseQuadrature) {
  constexpr int kDegree = 3;
  ProblemOptions options = kronecker_options(3, kDegree, {4, 3, 2});
  options.geometry = Geometry::graded;
  options.boundary = Boundary::none;
  options.points = kDegree + 3;
  const Problem problem = make_problem(options);
  const KroneckerFactors factors = make_kronecker_factors(problem.form);
  const Discretization& discretization = *problem.discretization;
  const std::vector<double>& nodes = discretization.basis.nodes;
  const Quadrature& rule = discretization.basis.quadrature;
  const auto phi = [&](int i, double t) {
    double value = 1.0;
    for (int j = 0; j <= kDegree; ++j) {
      if (j != i) value *= (t - nodes[j]) / (nodes[i] - nodes[j]);
    }
    return value;
  };
  const auto slope = [&](int i, double t) {
    double sum = 0.0;
    for (int k = 0; k <= kDegree; ++k) {
      if (k == i) continue;
      double term = 1.0 / (nodes[i] - nodes[k]);
      for (int j = 0; j <= kDegree; ++j) {
        if (j != i && j != k) term *= (t - nodes[j]) / (nodes[i] - nodes[j]);
      }
      sum += term;
    }
    return sum;
  };
  for (int d = 0; d < 3; ++d) {
    const AxisFactors& axis = factors.axes[d];
    const Index n = axis.nodes();
    std::vector<double> mass(n * n);
    std::vector<double> stiffness(n * n);
    const double k = d == 0 ? 1.7 : 1.0;
    for (Index c = 0; c < axis.cells; ++c) {
      const double h =
          discretization.mesh.grid_line(d, c + 1) - discretization.mesh.grid_line(d, c);
      for (std::size_t q = 0; q < rule.points.size(); ++q) {
        for (int i = 0; i <= kDegree; ++i) {
          for (int j = 0; j <= kDegree; ++j) {
            const Index at = (c * kDegree + i) * n + c * kDegree + j;
            const double t = rule.points[q];
            mass[at] += k * rule.weights[q] * h * phi(i, t) * phi(j, t);
            stiffness[at] += k * rule.weights[q] / h * slope(i, t) * slope(j, t);
          }
        }
      }
    }
    for (Index i = 0; i < n; ++i) {
      EXPECT_NEAR(axis.mass_diagonal[i], mass[i * n + i], 1e-13 * mass[0]);
      EXPECT_NEAR(axis.stiffness_diagonal[i], stiffness[i * n + i], 1e-13 * stiffness[0]);
      const Index c = i / kDegree;
      const Index local = i % kDegree;
      const Index first = local == 0 ? (c - 1) * kDegree : c * kDegree;
      const Index row =
          c * axis.block_size() + (local == 0 ? 0 : 2 * kDegree + 1 + (local - 1) * (kDegree + 1));
      const Index width = local == 0 ? 2 * kDegree + 1 : kDegree + 1;
      for (Index j = 0; j < width; ++j) {
        const bool inside = first + j >= 0 && first + j < n;
        const double m = inside ? mass[i * n + first + j] : 0.0;
        const double s = inside ? stiffness[i * n + first + j] : 0.0;
        EXPECT_NEAR(axis.mass[row + j], m, 1e-13 * mass[0]);
        EXPECT_NEAR(axis.stiffness[row + j], s, 1e-13 * stiffness[0]);
      }
    }
  }
}

}  // namespace
}  // namespace tessera::testing
