// These tests invert separable operators, and precondition others.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "operators/fast_diagonalization/fast_diagonalization.hpp"
#include "operators/fast_diagonalization/nearest_separable.hpp"
#include "operators/kronecker/kronecker.hpp"
#include "operators/strategy.hpp"
#include "tests/everywhere.hpp"
#include "tests/operators/fast_diagonalization/fast_diagonalization_cases.hpp"
#include "tests/operators/reference.hpp"
#include "tests/operators/test_names.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

// A M r = r, with r in the range of A where A has a kernel.
void expect_inverse(const Problem& problem) {
  const Index n = problem.size();
  const auto a = make_kronecker_operator<double>(problem.form);
  const auto m = make_fast_diagonalization<double>(problem.form);
  EXPECT_EQ(m->exactness(), Exactness::exact);
  HostVector<double> r = vector_of<double>(random_input<float>(n, 17));
  if (is_pure_neumann(problem.form)) {
    double sum = 0.0;
    for (Index i = 0; i < n; ++i) sum += r[i];
    r[n / 2] -= sum;
  }
  const HostVector<double> z = applied(*m, r);
  EXPECT_LT(relative_difference(applied(*a, z), values_of(r)), 1e-10) << "A M r";
  {
    const ThreadsInUse count(3);
    const HostVector<double> again = applied(*make_fast_diagonalization<double>(problem.form), r);
    EXPECT_TRUE(same_bits(z, again)) << "the same bits for any number of threads";
  }
  const HostVector<float> single_z =
      applied(*make_fast_diagonalization<float>(problem.form), vector_of<float>(values_of(r)));
  EXPECT_LT(relative_difference(single_z, values_of(z)), 1e-4) << "float";

  for (Index i = 0; i < n; ++i) {
    const bool constrained = problem.discretization->lattice.on_faces(
        problem.discretization->lattice.node_position(i), problem.form.dirichlet);
    if (constrained) {
      ASSERT_EQ(z[i], r[i]) << "constrained node " << i;
    }
  }
}

class SeparableInverse : public ::testing::TestWithParam<DimensionAndDegree> {};

TEST_P(SeparableInverse, IsTheInverseOfSeparableOperators) {
  const auto [dimension, degree] = GetParam();
  for_each_exact_case(dimension, degree, expect_inverse);
}

TEST_P(SeparableInverse, TakesAReactionAsAShiftOfTheEigenvalues) {
  const auto [dimension, degree] = GetParam();
  for_each_exact_case(dimension, degree, [](Problem& problem) {
    if (!problem.form.coefficient.constant) return;
    for (const double reaction : {1.0, 37.0}) {
      problem.form.reaction = constant_field(reaction);
      expect_inverse(problem);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Degrees, SeparableInverse,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Range(1, 9)),
                         name_of);

// The same in every run and, but for rounding, what it is on the host in double.
template <class T, class Space>
void expect_equal_to_host(const Problem& problem, double eps = in_precision<T>(1e-10, 1e-4)) {
  const auto host = make_fast_diagonalization<double>(problem.form);
  const auto m = make_fast_diagonalization<T, Space>(problem.form);
  EXPECT_EQ(m->exactness(), host->exactness());
  EXPECT_EQ(m->eigenvalue_range(), host->eigenvalue_range());
  EXPECT_EQ(m->bytes(),
            fast_diagonalization_bytes(problem.discretization->lattice, problem.form.dirichlet,
                                       symmetry_of(problem.form), sizeof(T), kProcessorOf<Space>));
  const std::vector<double> input = random_input<T>(problem.size(), 23);
  const HostVector<T> r = vector_of<T>(input);
  const HostVector<T> z = applied(*m, r);
  EXPECT_LT(relative_difference(z, values_of(applied(*host, vector_of<double>(input)))), eps);
  EXPECT_TRUE(same_bits(applied(*m, r), z)) << "the same bits in every run";
}

class FastDiagonalizationTest : public EveryProcessorTest<DegreeAndProcessor> {
 protected:
  static int dimension() { return std::get<0>(GetParam()); }
  static int degree() { return std::get<1>(GetParam()); }
};

TEST_P(FastDiagonalizationTest, EqualsTheHostAndHoldsWhatIsPredicted) {
  in_space_of_processor([]<class Space>() {
    const auto check = [](const Problem& problem) {
      expect_equal_to_host<double, Space>(problem);
      expect_equal_to_host<float, Space>(problem);
    };
    for_each_exact_case(dimension(), degree(), check);
    for_each_approximate_case(dimension(), degree(), check);
  });
}

// (M x, y) = (x, M y) where M is not the inverse of A, and M is positive.
TEST_P(FastDiagonalizationTest, IsSymmetric) {
  in_space_of_processor([]<class Space>() {
    for_each_approximate_case(dimension(), degree(), [](const Problem& problem) {
      const auto m = make_fast_diagonalization<double, Space>(problem.form);
      EXPECT_EQ(m->exactness(), Exactness::approximate);
      const HostVector<double> x = vector_of<double>(random_values(problem.size(), 3));
      const HostVector<double> y = vector_of<double>(random_values(problem.size(), 5));
      const HostVector<double> mx = applied(*m, x);
      const HostVector<double> my = applied(*m, y);
      EXPECT_NEAR(dot(mx, y), dot(x, my), 1e-12 * norm(mx) * norm(y));
      EXPECT_GT(dot(mx, x), 0.0);
    });
  });
}

INSTANTIATE_TEST_SUITE_P(Degrees, FastDiagonalizationTest,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Range(1, 9),
                                            ::testing::ValuesIn(every_processor())),
                         name_with_processor);

class FastDiagonalizationShapes : public EveryProcessorTest<std::tuple<Processor>> {};

// On the GPU more places along x than a block has threads, and planes that are no multiple of a
// tile.
TEST_P(FastDiagonalizationShapes, LongAxesEqualTheHost) {
  for (const IndexTriple& cells :
       {IndexTriple{97, 3, 5}, IndexTriple{2, 70, 3}, IndexTriple{3, 4, 66}}) {
    for (const int dimension : {2, 3}) {
      ProblemOptions options;
      options.dimension = dimension;
      options.degree = 4;
      options.cells = cells;
      options.geometry = Geometry::cartesian;
      options.coefficient = Coefficient::constant;
      for (const Boundary boundary : {Boundary::mixed, Boundary::dirichlet}) {
        options.boundary = boundary;
        SCOPED_TRACE(describe(options));
        const Problem problem = make_problem(options);
        in_space_of_processor([&]<class Space>() {
          expect_equal_to_host<double, Space>(problem);
          if (boundary == Boundary::dirichlet) expect_equal_to_host<float, Space>(problem);
        });
      }
    }
  }
}

ProblemOptions thin_options(const IndexTriple& cells) {
  ProblemOptions options;
  options.degree = 1;
  options.cells = cells;
  options.geometry = Geometry::graded;
  options.coefficient = Coefficient::constant;
  options.boundary = Boundary::dirichlet;
  return options;
}

// One free node along an axis, or none.
TEST_P(FastDiagonalizationShapes, ThinBoxesEqualTheHost) {
  for (const IndexTriple& cells :
       {IndexTriple{2, 3, 4}, IndexTriple{3, 2, 4}, IndexTriple{2, 2, 2}, IndexTriple{3, 1, 2}}) {
    const Problem problem = make_problem(thin_options(cells));
    SCOPED_TRACE(problem.size());
    in_space_of_processor(
        [&]<class Space>() { expect_equal_to_host<double, Space>(problem, 1e-12); });
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, FastDiagonalizationShapes,
                         ::testing::Combine(::testing::ValuesIn(every_processor())),
                         name_of_processor);

// Planes longer than a panel, and panels of several rows.
TEST(SeparableInverseShapes, LongAxesAreCutIntoPanels) {
  for (const IndexTriple& cells : {IndexTriple{67, 3, 5}, IndexTriple{2, 70, 3},
                                   IndexTriple{3, 4, 66}, IndexTriple{40, 33, 4}}) {
    ProblemOptions options;
    options.degree = 4;
    options.cells = cells;
    options.geometry = Geometry::cartesian;
    options.coefficient = Coefficient::constant;
    options.boundary = Boundary::dirichlet;
    SCOPED_TRACE(describe(options));
    expect_inverse(make_problem(options));
    options.boundary = Boundary::none;
    SCOPED_TRACE("Neumann");
    expect_inverse(make_problem(options));
  }
}

// One free node along an axis, or none.
TEST(SeparableInverseShapes, AxesMayHaveOneFreeNode) {
  for (const IndexTriple& cells : {IndexTriple{2, 3, 4}, IndexTriple{3, 2, 4}, IndexTriple{4, 3, 2},
                                   IndexTriple{2, 2, 2}, IndexTriple{3, 1, 2}}) {
    for (const int dimension : {2, 3}) {
      ProblemOptions options = thin_options(cells);
      options.dimension = dimension;
      SCOPED_TRACE(describe(options));
      expect_inverse(make_problem(options));
    }
  }
}

// lambda_1 of the box with Dirichlet faces is pi^2 (1/a^2 + 1/b^2 + 1/c^2).
TEST(FastDiagonalizationRange, HasTheLeastEigenvalueOfTheBox) {
  ProblemOptions options;
  options.degree = 6;
  options.cells = {4, 4, 4};
  options.geometry = Geometry::cartesian;
  options.coefficient = Coefficient::constant;
  options.boundary = Boundary::dirichlet;
  const Problem problem = make_problem(options);
  const BoxMesh& mesh = problem.discretization->mesh;
  double inverse_squares = 0.0;
  double longest = 0.0;
  for (int d = 0; d < 3; ++d) {
    const double edge = mesh.upper()[d] - mesh.lower()[d];
    inverse_squares += 1.0 / (edge * edge);
    longest = std::max(longest, edge);
  }
  const double pi2 = std::numbers::pi * std::numbers::pi;
  const auto dirichlet = make_fast_diagonalization<double>(problem.form)->eigenvalue_range();
  EXPECT_NEAR(dirichlet[0], pi2 * inverse_squares, 1e-7 * dirichlet[0]);
  options.boundary = Boundary::none;
  const Problem free = make_problem(options);
  const auto neumann = make_fast_diagonalization<double>(free.form)->eigenvalue_range();
  EXPECT_NEAR(neumann[0], pi2 / (longest * longest), 1e-7 * neumann[0]);
  EXPECT_GT(neumann[1], dirichlet[0]);
}

struct Iterations {
  int plain;
  int preconditioned;
};

// CG with the tensor kernel, without and with M, to the same solution.
template <class Space>
Iterations solve_both(const BilinearForm& form) {
  const Index n = form.discretization->lattice.size();
  const auto a = make_operator<double, Space>({"tensor", "coloring"}, form);
  const auto m = make_fast_diagonalization<double, Space>(form);
  const auto b = vector_in<double, Space>(random_values(n, 41));
  SolveOptions options;
  options.relative_tolerance = 1e-10;
  options.max_iterations = 20000;
  Vector<double, Space> expected(n);
  const SolveReport plain = cg(*a, nullptr, b, expected, options);
  Vector<double, Space> x(n);
  const SolveReport report = cg(*a, m.get(), b, x, options);
  EXPECT_EQ(plain.status, SolveStatus::converged);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_LT(relative_difference(on_host(x), values_of(expected)), 1e-6);
  ::testing::Test::RecordProperty("plain", plain.iterations);
  ::testing::Test::RecordProperty("preconditioned", report.iterations);
  return {plain.iterations, report.iterations};
}

class FastDiagonalizationInCg : public EveryProcessorTest<std::tuple<Processor>> {
 protected:
  static Iterations iterations_for(const BilinearForm& form) {
    return in_space_of_processor([&]<class Space>() { return solve_both<Space>(form); });
  }
};

ProblemOptions solve_options(Geometry geometry, Boundary boundary) {
  ProblemOptions options;
  options.degree = 4;
  options.cells = {7, 6, 5};
  options.geometry = geometry;
  options.boundary = boundary;
  return options;
}

// On the GPU CG captures the products into its graph.
TEST_P(FastDiagonalizationInCg, SolvesCurvedBoxesInFewIterations) {
  for (const Boundary boundary : {Boundary::dirichlet, Boundary::mixed}) {
    const Problem problem = make_problem(solve_options(Geometry::curved, boundary));
    const Iterations iterations = iterations_for(problem.form);
    EXPECT_LE(iterations.preconditioned, 25);
    EXPECT_GE(iterations.plain, 5 * iterations.preconditioned);
  }
}

// From a reaction that hardly counts to one that outweighs the stiffness.
TEST_P(FastDiagonalizationInCg, SolvesWithReaction) {
  for (const Geometry geometry : {Geometry::curved, Geometry::cartesian}) {
    for (const double scale : {1.0, 100.0}) {
      Problem problem = make_problem(solve_options(geometry, Boundary::dirichlet));
      problem.form.reaction = field_of([scale](double x, double y, double z) {
        return scale * (2.0 + std::sin(3.0 * x) * y + z);
      });
      const Iterations iterations = iterations_for(problem.form);
      EXPECT_LE(iterations.preconditioned, 25);
      EXPECT_GE(iterations.plain, 2 * iterations.preconditioned);
    }
  }
}

// Layers across z, which k does not say are a product.
TEST_P(FastDiagonalizationInCg, SolvesLayersAsIfTheyWereNone) {
  Problem problem = make_problem(solve_options(Geometry::cartesian, Boundary::dirichlet));
  const BoxMesh& mesh = problem.discretization->mesh;
  const double line = mesh.grid_line(2, 3);
  problem.form.coefficient =
      field_of([line](double, double, double z) { return z < line ? 1.0 : 1e4; });
  const Iterations iterations = iterations_for(problem.form);
  EXPECT_LE(iterations.preconditioned, 3);
  EXPECT_GE(iterations.plain, 50);
}

// A box in a corner, 1e4 times as stiff: no sum of products is near.
TEST_P(FastDiagonalizationInCg, HelpsWithAnInclusion) {
  Problem problem = make_problem(solve_options(Geometry::curved, Boundary::dirichlet));
  problem.form.coefficient = field_of(
      [](double x, double y, double z) { return x < 0.2 && y < 0.8 && z < 1.4 ? 1e4 : 1.0; });
  const Iterations iterations = iterations_for(problem.form);
  EXPECT_GE(iterations.plain, 2 * iterations.preconditioned);
}

INSTANTIATE_TEST_SUITE_P(Processors, FastDiagonalizationInCg,
                         ::testing::Combine(::testing::ValuesIn(every_processor())),
                         name_of_processor);

// The samples are a subset of the cells, and those of a mesh of constant k give it exactly.
TEST(NearestSeparable, SamplesOfLargeMeshesReachAllPlaces) {
  const BoxMesh mesh(3, {130, 120, 110}, {0, 0, 0}, {1, 1, 1});
  const Basis1D basis = make_basis(1, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 2);
  const Discretization discretization = make_discretization(mesh, basis);
  BilinearForm form{&discretization, field_of([](double, double, double) { return 3.0; }), {}, {}};
  const NearestSeparable separable = make_nearest_separable(form);
  form.coefficient = constant_field(3.0);
  const NearestSeparable exact = make_nearest_separable(form);
  EXPECT_EQ(separable.exactness, Exactness::approximate);
  EXPECT_EQ(exact.exactness, Exactness::exact);
  // K_0 M_1 M_2 of both is 3 times that of k = 1; the shares of the factors differ.
  for (int d = 0; d < 3; ++d) {
    const AxisFactors& e = separable.axes[(d + 1) % 3];
    const AxisFactors& f = separable.axes[(d + 2) % 3];
    const double product = e.total_mass * f.total_mass;
    const double expected = exact.axes[(d + 1) % 3].total_mass * exact.axes[(d + 2) % 3].total_mass;
    const auto& entries = separable.axes[d].stiffness;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      ASSERT_NEAR(entries[i] * product, exact.axes[d].stiffness[i] * expected, 1e-9);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
