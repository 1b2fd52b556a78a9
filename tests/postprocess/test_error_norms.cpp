// These tests compare norms with those of known functions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>
#include <vector>

#include "operators/load/interpolation.hpp"
#include "postprocess/error_norms.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Point kLower = {-0.5, 0.25, 1.0};
constexpr Point kUpper = {1.0, 1.35, 1.8};

Basis1D gauss_basis(int degree) {
  return make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, degree + 1);
}

BoxMesh box(int dimension, const IndexTriple& cells) {
  return dimension == 2 ? BoxMesh(2, {cells[0], cells[1], 1}, kLower, kUpper)
                        : BoxMesh(3, cells, kLower, kUpper);
}

double box_volume(int dimension) {
  double volume = 1.0;
  for (int d = 0; d < dimension; ++d) volume *= kUpper[d] - kLower[d];
  return volume;
}

// x -> A x + b with A neither diagonal nor symmetric.
constexpr double kA[3][3] = {{1.2, 0.3, -0.2}, {-0.4, 0.9, 0.1}, {0.25, -0.15, 1.1}};
constexpr double kB[3] = {0.7, -1.1, 0.3};

Point affine(int dimension, const Point& at) {
  Point image = {0.0, 0.0, 0.0};
  for (int a = 0; a < dimension; ++a) {
    image[a] = kB[a];
    for (int b = 0; b < dimension; ++b) image[a] += kA[a][b] * at[b];
  }
  return image;
}

double affine_determinant(int dimension) {
  const auto minor = [](int b1, int b2) { return kA[1][b1] * kA[2][b2] - kA[1][b2] * kA[2][b1]; };
  return dimension == 2 ? kA[0][0] * kA[1][1] - kA[0][1] * kA[1][0]
                        : kA[0][0] * minor(1, 2) - kA[0][1] * minor(0, 2) + kA[0][2] * minor(0, 1);
}

Discretization affine_box(int dimension, const IndexTriple& cells, int degree) {
  std::array<ScalarField, 3> components;
  for (int d = 0; d < dimension; ++d) {
    components[d] = field_of([dimension, d](double x, double y, double z) {
      return affine(dimension, {x, y, z})[d];
    });
  }
  return make_mapped_discretization(box(dimension, cells), gauss_basis(degree), components);
}

Discretization curved_box(int dimension, int degree) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  return *make_problem(options).discretization;
}

// The quarter of a ring (2D) or of a pipe of length 0.8 (3D) between the radii 1 and 2.
Discretization quarter_ring(int dimension, int degree) {
  const BoxMesh mesh = dimension == 2 ? BoxMesh(2, {3, 5, 1}, {1, 0, 0}, {2, kPi / 2, 0})
                                      : BoxMesh(3, {3, 5, 2}, {1, 0, 1}, {2, kPi / 2, 1.8});
  return make_mapped_discretization(
      mesh, gauss_basis(degree),
      {field_of([](double r, double t, double) { return r * std::cos(t); }),
       field_of([](double r, double t, double) { return r * std::sin(t); }),
       field_of([](double, double, double z) { return z; })});
}

HostVector<double> interpolant(const Discretization& discretization, const ScalarField& field) {
  HostVector<double> u = poisoned<double>(discretization.lattice.size());
  interpolate(discretization, field, u);
  return u;
}

HostVector<double> zeros(const Discretization& discretization) {
  return HostVector<double>(discretization.lattice.size());
}

const ScalarField kZero = constant_field(0.0);

class ErrorNormsOfDegree : public ::testing::TestWithParam<std::tuple<int, int>> {};

INSTANTIATE_TEST_SUITE_P(Degrees, ErrorNormsOfDegree,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values(1, 2, 3, 4, 6)),
                         [](const auto& tested) {
                           return fmt::format("{}dDegree{}", std::get<0>(tested.param),
                                              std::get<1>(tested.param));
                         });

TEST_P(ErrorNormsOfDegree, InterpolantsOfPolynomialsHaveNone) {
  const auto [dimension, degree] = GetParam();
  const int p = degree;
  const bool third = dimension == 3;
  // Degree p in each variable on the Cartesian mesh; p altogether on the affine one, where a
  // variable is a combination of all; 1 on the curved one.
  const ScalarField tensor = field_of([=](double x, double y, double z) {
    return std::pow(x, p) * std::pow(y - 1.0, p) * (third ? std::pow(1.5 - z, p) : 1.0) - x * y;
  });
  const ScalarField total = field_of([=](double x, double y, double z) {
    return std::pow(0.5 * x - y + 0.25 * z, p) + std::pow(x, p) - 2.0;
  });
  const ScalarField linear =
      field_of([](double x, double y, double z) { return 2.0 - 3.0 * x + y + 0.5 * z; });
  const auto expect_none = [](const Discretization& discretization, const ScalarField& field) {
    HostVector<double> u = interpolant(discretization, field);
    const ErrorNorms error = error_norms(discretization, u.span(), field);
    EXPECT_LT(error.l2, 1e-12);
    EXPECT_LT(error.h1_seminorm, 1e-10);
    EXPECT_EQ(error.max, 0.0);
    // The norms can see a difference at all.
    u[u.size() / 2] += 1.0;
    const ErrorNorms changed = error_norms(discretization, u.span(), field);
    EXPECT_GT(changed.l2, 1e-5);
    EXPECT_GT(changed.h1_seminorm, 1e-3);
    EXPECT_NEAR(changed.max, 1.0, 1e-12);
  };
  const IndexTriple cells = {3, 5, 2};
  expect_none(make_discretization(box(dimension, cells), gauss_basis(p)), tensor);
  expect_none(affine_box(dimension, cells, p), total);
  expect_none(curved_box(dimension, p), linear);
}

double monomial_integral(int power, double lower, double upper) {
  return (std::pow(upper, power + 1) - std::pow(lower, power + 1)) / (power + 1);
}

TEST_P(ErrorNormsOfDegree, OfPolynomialsUpToTheDegreePlusTwoAreExact) {
  const auto [dimension, degree] = GetParam();
  // u_h = 0 and exact = x^a y^b z^c: squares are integrated exactly, gradients differentiated so.
  const std::array<int, 3> powers = {degree + 2, 1, degree};
  const ScalarField monomial = field_of([dim = dimension, powers](double x, double y, double z) {
    return std::pow(x, powers[0]) * std::pow(y, powers[1]) *
           (dim == 3 ? std::pow(z, powers[2]) : 1.0);
  });
  double l2_squared = 1.0;
  double h1_squared = 0.0;
  for (int d = 0; d < dimension; ++d) {
    l2_squared *= monomial_integral(2 * powers[d], kLower[d], kUpper[d]);
    double term = 1.0;
    for (int e = 0; e < dimension; ++e) {
      term *= e == d ? powers[e] * powers[e] *
                           monomial_integral(2 * powers[e] - 2, kLower[e], kUpper[e])
                     : monomial_integral(2 * powers[e], kLower[e], kUpper[e]);
    }
    h1_squared += term;
  }
  const Discretization mesh = make_discretization(box(dimension, {3, 5, 2}), gauss_basis(degree));
  const ErrorNorms error = error_norms(mesh, zeros(mesh).span(), monomial);
  EXPECT_NEAR(error.l2, std::sqrt(l2_squared), 1e-13 * std::sqrt(l2_squared));
  EXPECT_NEAR(error.h1_seminorm, std::sqrt(h1_squared), 1e-11 * std::sqrt(h1_squared));
  // The largest value is at the upper corner: x^(p+2) is 1 there and less in size elsewhere.
  const double at_corner =
      std::pow(kUpper[1], powers[1]) * (dimension == 3 ? std::pow(kUpper[2], powers[2]) : 1.0);
  EXPECT_DOUBLE_EQ(error.max, at_corner);
}

TEST_P(ErrorNormsOfDegree, OfALinearFunctionOnAffineMeshes) {
  const auto [dimension, degree] = GetParam();
  const Discretization mesh = affine_box(dimension, {3, 5, 2}, degree);
  const Point slope = {2.0, -3.0, dimension == 3 ? 1.5 : 0.0};
  const ScalarField linear = field_of(
      [=](double x, double y, double z) { return slope[0] * x + slope[1] * y + slope[2] * z; });
  const double volume = box_volume(dimension) * affine_determinant(dimension);
  ASSERT_GT(volume, 0.0);
  // In box coordinates the function is again linear, value c at the center and slope A^T s:
  // its mean square is c^2 + sum (A^T s)_d^2 L_d^2 / 12.
  Point center = {0.0, 0.0, 0.0};
  for (int d = 0; d < dimension; ++d) center[d] = 0.5 * (kLower[d] + kUpper[d]);
  const Point image = affine(dimension, center);
  const double c = slope[0] * image[0] + slope[1] * image[1] + slope[2] * image[2];
  double mean_square = c * c;
  for (int d = 0; d < dimension; ++d) {
    double component = 0.0;
    for (int a = 0; a < dimension; ++a) component += kA[a][d] * slope[a];
    mean_square += std::pow(component * (kUpper[d] - kLower[d]), 2) / 12.0;
  }
  const double slope_squared = slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2];

  const HostVector<double> u = interpolant(mesh, linear);
  for (const ErrorNorms& error :
       {error_norms(mesh, u.span(), kZero), error_norms(mesh, zeros(mesh).span(), linear)}) {
    EXPECT_NEAR(error.l2, std::sqrt(volume * mean_square), 1e-12);
    EXPECT_NEAR(error.h1_seminorm, std::sqrt(volume * slope_squared), 1e-11);
  }
  const ScalarField k = field_of([=](double x, double y, double z) {
    return 10.0 + slope[0] * x + slope[1] * y + slope[2] * z;
  });
  const SolutionNumbers numbers = solution_numbers(mesh, u.span(), k);
  EXPECT_NEAR(numbers.volume, volume, 1e-12);
  EXPECT_NEAR(numbers.integral, volume * c, 1e-12);
  EXPECT_NEAR(numbers.energy, 0.5 * slope_squared * volume * (10.0 + c), 1e-10);
  EXPECT_NEAR(mean_value(mesh, linear), c, 1e-13 * std::abs(c) + 1e-13);
  // The same coefficient as a function of u.
  ScalarField k_of_u;
  k_of_u.depends_on_u = true;
  k_of_u.evaluate = [](const PointBlock& points, double* values) {
    for (std::size_t i = 0; i < points.n; ++i) values[i] = 10.0 + points.u[i];
  };
  EXPECT_NEAR(solution_numbers(mesh, u.span(), k_of_u).energy, numbers.energy,
              1e-12 * numbers.energy);
}

TEST(ErrorNormsOfKnownFunctions, SinesOnABoxOfUnequalEdges) {
  for (const int dimension : {2, 3}) {
    const ScalarField sines = field_of([dimension](double x, double y, double z) {
      const Point at = {x, y, z};
      double product = 1.0;
      for (int d = 0; d < dimension; ++d) {
        product *= std::sin(kPi * (d + 1) * (at[d] - kLower[d]) / (kUpper[d] - kLower[d]));
      }
      return product;
    });
    double h1_factor = 0.0;
    for (int d = 0; d < dimension; ++d) {
      h1_factor += std::pow(kPi * (d + 1) / (kUpper[d] - kLower[d]), 2);
    }
    const double l2 = std::sqrt(box_volume(dimension) / std::pow(2.0, dimension));
    const Discretization mesh = make_discretization(box(dimension, {2, 3, 4}), gauss_basis(7));
    const ErrorNorms error = error_norms(mesh, zeros(mesh).span(), sines);
    EXPECT_NEAR(error.l2, l2, 1e-12);
    EXPECT_NEAR(error.h1_seminorm, l2 * std::sqrt(h1_factor), 1e-7);
  }
}

TEST(ErrorNormsOfKnownFunctions, RadiusSquaredOnAQuarterRing) {
  for (const int dimension : {2, 3}) {
    const Discretization mesh = quarter_ring(dimension, 7);
    const double height = dimension == 3 ? 0.8 : 1.0;
    const ScalarField radius_squared =
        field_of([](double x, double y, double) { return x * x + y * y; });
    const double l2 = std::sqrt(height * kPi / 2.0 * (64.0 - 1.0) / 6.0);  // of r^4 r dr
    const double h1 = std::sqrt(height * kPi / 2.0 * (16.0 - 1.0));        // of (2 r)^2 r dr
    const ErrorNorms error = error_norms(mesh, zeros(mesh).span(), radius_squared);
    EXPECT_NEAR(error.l2, l2, 1e-9 * l2);
    EXPECT_NEAR(error.h1_seminorm, h1, 1e-8 * h1);
    EXPECT_NEAR(error.max, 4.0, 1e-14);

    const HostVector<double> u = interpolant(mesh, radius_squared);
    const SolutionNumbers numbers = solution_numbers(mesh, u.span(), radius_squared);
    EXPECT_NEAR(numbers.volume, height * kPi / 4.0 * 3.0, 1e-9);
    EXPECT_NEAR(numbers.integral, height * kPi / 2.0 * 15.0 / 4.0, 1e-8);
    EXPECT_NEAR(numbers.energy, 0.5 * height * kPi / 2.0 * 4.0 * 63.0 / 6.0, 1e-6);
    EXPECT_NEAR(numbers.min, 1.0, 1e-14);
    EXPECT_NEAR(numbers.max, 4.0, 1e-14);
    EXPECT_NEAR(mean_value(mesh, radius_squared), (15.0 / 8.0) / (3.0 / 4.0), 1e-9);
  }
}

TEST(ErrorNormsOfDifferences, AreNormsOfUhLessExact) {
  // u_h = x y and exact = x y - x: the difference is x.
  const Discretization mesh = make_discretization(box(3, {3, 5, 2}), gauss_basis(1));
  const HostVector<double> u =
      interpolant(mesh, field_of([](double x, double y, double) { return x * y; }));
  const ErrorNorms error =
      error_norms(mesh, u.span(), field_of([](double x, double y, double) { return x * y - x; }));
  const double area = 1.1 * 0.8;
  EXPECT_NEAR(error.l2, std::sqrt(area * monomial_integral(2, -0.5, 1.0)), 1e-13);
  EXPECT_NEAR(error.h1_seminorm, std::sqrt(area * 1.5), 1e-12);
  EXPECT_NEAR(error.max, 1.0, 1e-15);
}

TEST(ErrorNormsOfDifferences, DoNotDependOnTheRuleOfTheOperator) {
  const BoxMesh mesh = box(3, {3, 2, 2});
  const ScalarField exact =
      field_of([](double x, double y, double z) { return std::sin(3.0 * x + y) * std::exp(z); });
  const Discretization gauss = make_discretization(mesh, gauss_basis(3));
  const Discretization collocated = make_discretization(
      mesh, make_basis(3, NodeFamily::gauss_lobatto, QuadratureRule::gauss_lobatto, 4));
  const Discretization many =
      make_discretization(mesh, make_basis(3, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 9));
  const HostVector<double> u = interpolant(gauss, exact);
  const ErrorNorms expected = error_norms(gauss, u.span(), exact);
  EXPECT_GT(expected.l2, 1e-6);
  for (const Discretization* other : {&collocated, &many}) {
    const ErrorNorms error = error_norms(*other, u.span(), exact);
    EXPECT_EQ(error.l2, expected.l2);
    EXPECT_EQ(error.h1_seminorm, expected.h1_seminorm);
    EXPECT_EQ(error.max, expected.max);
  }
}

TEST(MaximumError, IsFoundAtAnyNode) {
  const Discretization mesh = make_discretization(box(2, {40, 31, 1}), gauss_basis(2));
  const ScalarField exact = field_of([](double x, double y, double) { return x - 2.0 * y; });
  const HostVector<double> u = interpolant(mesh, exact);
  const Index n = u.size();
  ASSERT_GT(n, 4 * 1024);
  HostVector<double> changed(n);
  for (const int threads : {1, 3}) {
    const ThreadsInUse count(threads);
    for (const Index node : {Index{0}, Index{1}, Index{1023}, Index{1024}, n / 3, n / 2, n - 1}) {
      for (const double by : {0.5, -0.25}) {
        copy(u, changed);
        changed[node] += by;
        changed[n / 5] += 0.125;
        EXPECT_NEAR(error_norms(mesh, changed.span(), exact).max, std::abs(by), 1e-14) << node;
      }
    }
  }
}

TEST(MaximumError, IsNotANumberWhereTheSolutionIsNot) {
  const Discretization mesh = make_discretization(box(2, {3, 2, 1}), gauss_basis(2));
  for (const Index node : {Index{0}, mesh.lattice.size() / 2, mesh.lattice.size() - 1}) {
    HostVector<double> u = zeros(mesh);
    u[node] = kNan;
    const ErrorNorms error = error_norms(mesh, u.span(), constant_field(1.0));
    EXPECT_TRUE(std::isnan(error.l2)) << node;
    EXPECT_TRUE(std::isnan(error.h1_seminorm)) << node;
    EXPECT_TRUE(std::isnan(error.max)) << node << ": " << error.max;
  }
}

TEST(SolutionNumbersOfNodes, MinAndMaxAreOverTheNodes) {
  const Discretization mesh = make_discretization(box(3, {3, 2, 2}), gauss_basis(3));
  HostVector<double> u = zeros(mesh);
  fill(u, 0.5);
  u[7] = -3.0;
  u[u.size() - 1] = 4.25;
  const SolutionNumbers numbers = solution_numbers(mesh, u.span(), constant_field(1.0));
  EXPECT_EQ(numbers.min, -3.0);
  EXPECT_EQ(numbers.max, 4.25);
}

TEST(MeanValues, OnABox) {
  const Discretization mesh = make_discretization(box(3, {3, 2, 2}), gauss_basis(1));
  EXPECT_NEAR(mean_value(mesh, constant_field(-2.5)), -2.5, 1e-14);
  EXPECT_NEAR(
      mean_value(mesh,
                 field_of([](double x, double y, double z) { return x * x * x - y * y + z; })),
      monomial_integral(3, -0.5, 1.0) / 1.5 - monomial_integral(2, 0.25, 1.35) / 1.1 + 1.4, 1e-14);
}

TEST(SumsOverCells, AreTheSameBitsForAnyNumberOfThreads) {
  ProblemOptions options;
  options.cells = {17, 11, 5};  // several blocks of batches, the last batch not full
  options.degree = 1;
  const Problem problem = make_problem(options);
  const Discretization& mesh = *problem.discretization;
  const HostVector<double> u = vector_of<double>(random_values(mesh.lattice.size(), 3));
  const ScalarField exact =
      field_of([](double x, double y, double z) { return std::sin(5.0 * x - y) + z; });
  const auto numbers = [&](int threads) {
    const ThreadsInUse count(threads);
    const ErrorNorms error = error_norms(mesh, u.span(), exact);
    const SolutionNumbers solution = solution_numbers(mesh, u.span(), problem.form.coefficient);
    return std::array{
        error.l2,        error.h1_seminorm,      error.max, solution.integral, solution.energy,
        solution.volume, mean_value(mesh, exact)};
  };
  const auto one = numbers(1);
  for (const int threads : {2, 3, 7}) {
    const auto several = numbers(threads);
    EXPECT_EQ(one, several) << threads;
  }
}

TEST(SumsOverCells, AnExceptionOfTheExactSolutionReachesTheCaller) {
  const Discretization mesh = make_discretization(box(2, {9, 7, 1}), gauss_basis(2));
  const ScalarField throwing = {
      [](const PointBlock&, double*) { throw std::domain_error("a field's own error"); },
      std::nullopt};
  for (const int threads : {1, 3}) {
    const ThreadsInUse count(threads);
    EXPECT_THROW(error_norms(mesh, zeros(mesh).span(), throwing), std::domain_error);
    EXPECT_THROW(mean_value(mesh, throwing), std::domain_error);
  }
}

}  // namespace
}  // namespace tessera::testing
