// These tests hold the Kronecker operator on the GPU to the host and to the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "operators/kronecker/device_kronecker.hpp"
#include "operators/kronecker/kronecker.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/kronecker/null_space.hpp"
#include "tests/operators/on_device.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"
#include "tests/operators/test_names.hpp"
#include "tests/operators/without_fused_operations.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

template <class T>
std::vector<double> values_of(const DeviceVector<T>& x) {
  const HostVector<T> values = downloaded(x);
  return {values.data(), values.data() + values.size()};
}

template <class T>
void expect_near(const DeviceVector<T>& x, const std::vector<double>& expected,
                 const std::string& what) {
  EXPECT_LT(relative_difference(vector_of<T>(values_of(x)), expected), tolerance<T>()) << what;
}

// Sums in GPU memory, NaN until written.
class DeviceSums {
 public:
  double* data() { return values_.data(); }
  double get(int i) const { return to_host(values_)[i]; }

 private:
  DeviceArray<double> values_{std::vector<double>{NAN, NAN}};
};

double dot_of(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

template <class T>
void expect_sum(double sum, const std::vector<double>& x, const std::vector<double>& y) {
  // The sum that it is compared with is taken term by term, whose rounding grows with their number.
  const double terms = std::max(1.0, 1e-3 * std::sqrt(static_cast<double>(x.size())));
  EXPECT_NEAR(sum, dot_of(x, y),
              terms * tolerance<T>() * std::sqrt(dot_of(x, x)) * std::sqrt(dot_of(y, y)));
}

// Cells beyond one tile along x and along y, and more than one layer.
IndexTriple cells_for(int dimension, int degree) {
  constexpr int kAlongX[] = {0, 63, 33, 22, 16, 13, 11, 10, 16, 3};
  constexpr int kAlongY[] = {0, 10, 6, 4, 3, 2, 3, 2, 3, 2};
  const int row = std::min(degree, 9);
  if (dimension == 2) return {kAlongX[row], 2 * kAlongY[row] + 1, 1};
  return {kAlongX[row], kAlongY[row], degree <= 2 ? 5 : 2};
}

class DeviceKronecker : public ::testing::TestWithParam<DimensionAndDegree> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }
  static ProblemOptions options() {
    ProblemOptions options;
    options.dimension = std::get<0>(GetParam());
    options.degree = std::get<1>(GetParam());
    options.cells = cells_for(options.dimension, options.degree);
    options.geometry = Geometry::cartesian;
    options.coefficient = Coefficient::constant;
    return options;
  }
  template <class F>
  static void for_each_kind(ProblemOptions options, F&& f) {
    for (const Geometry geometry : {Geometry::cartesian, Geometry::graded}) {
      for (const Coefficient coefficient : {Coefficient::constant, Coefficient::separable}) {
        options.geometry = geometry;
        options.coefficient = coefficient;
        for (const Boundary boundary : {Boundary::none, Boundary::mixed, Boundary::dirichlet}) {
          options.boundary = boundary;
          SCOPED_TRACE(describe(options));
          f(make_problem(options));
        }
      }
    }
  }
};

// The host's operator equals the serial reference in tests of its own.
template <class T>
void expect_equal_to_host(const Problem& problem) {
  const auto host = make_kronecker_operator<double>(problem.form);
  const std::vector<double> input = random_input<T>(problem.size(), 31);
  HostVector<double> expected(problem.size());
  host->apply(vector_of<double>(input), expected);
  const auto a = make_device_kronecker_operator<T>(problem.form);
  ASSERT_EQ(a->size(), problem.size());
  const DeviceVector<T> x = uploaded<T>(input);
  for (int repetition = 0; repetition < 2; ++repetition) {
    DeviceVector<T> y = poisoned_on_device<T>(problem.size());
    a->apply(x, y);
    expect_near(y, {expected.data(), expected.data() + expected.size()}, "apply");
  }
  host->diagonal(expected);
  DeviceVector<T> d = poisoned_on_device<T>(problem.size());
  a->diagonal(d);
  expect_near(d, {expected.data(), expected.data() + expected.size()}, "diagonal");
  const Discretization& discretization = *problem.form.discretization;
  const Index predicted =
      device_kronecker_bytes(discretization.mesh, discretization.basis.degree, sizeof(T));
  if (problem.form.robin.empty()) {
    EXPECT_EQ(a->bytes(), predicted);
  } else {
    EXPECT_GE(a->bytes(), predicted);
  }
}

TEST_P(DeviceKronecker, EqualsTheHost) {
  for_each_kind(options(), [](const Problem& problem) {
    expect_equal_to_host<double>(problem);
    expect_equal_to_host<float>(problem);
  });
}

TEST_P(DeviceKronecker, EqualsTheReferenceOnThinMeshes) {
  ProblemOptions options = DeviceKronecker::options();
  const bool flat = options.dimension == 2;
  for (const IndexTriple& cells :
       {IndexTriple{1, 1, 1}, IndexTriple{1, 3, flat ? 1 : 2}, IndexTriple{4, 1, 1}}) {
    options.cells = cells;
    for_each_kind(options, [](const Problem& problem) {
      const Reference reference(problem.form);
      const std::vector<double> input = random_input<double>(problem.size(), 37);
      const auto a = make_device_kronecker_operator<double>(problem.form);
      const DeviceVector<double> x = uploaded<double>(input);
      DeviceVector<double> y = poisoned_on_device<double>(problem.size());
      a->apply(x, y);
      expect_near(y, reference.apply(input), "apply");
    });
  }
}

// In single precision exactly; in double precision the products are not taken of differences.
void expect_constants_in_null_space(const Problem& problem) {
  DeviceVector<float> x(problem.size());
  fill(x, 100.0F / 3.0F);
  DeviceVector<float> y = poisoned_on_device<float>(problem.size());
  make_device_kronecker_operator<float>(problem.form)->apply(x, y);
  EXPECT_EQ(wrong_products_of_a_constant(problem, values_of(y)), 0);
}

TEST_P(DeviceKronecker, KeepsConstantsInItsNullSpace) {
  ProblemOptions options = DeviceKronecker::options();
  options.boundary = Boundary::none;
  for (const Coefficient coefficient : {Coefficient::constant, Coefficient::separable}) {
    for (const Geometry geometry : {Geometry::cartesian, Geometry::graded}) {
      options.coefficient = coefficient;
      options.geometry = geometry;
      SCOPED_TRACE(describe(options));
      Problem problem = make_problem(options);
      expect_constants_in_null_space(problem);
      for (const int face : {1, 2}) problem.form.robin.push_back({face, constant_field(0.3)});
      expect_constants_in_null_space(problem);
      if (options.dimension == 2) continue;
      for (const int face : {4, 5}) problem.form.robin.push_back({face, constant_field(0.7)});
      expect_constants_in_null_space(problem);
    }
  }
}

template <class T>
void expect_fused_operations_equal_compositions(const Problem& problem) {
  const auto a = make_device_kronecker_operator<T>(problem.form);
  const FusedOperations<T, Device>* fused = a->fused();
  if (fused == nullptr) {
    EXPECT_TRUE(problem.form.discretization->basis.degree > 8 || !problem.form.robin.empty());
    return;
  }
  const Index n = problem.size();
  const std::vector<double> x = random_input<T>(n, 3);
  const std::vector<double> b = random_input<T>(n, 5);
  const DeviceVector<T> device_x = uploaded<T>(x);
  const DeviceVector<T> device_b = uploaded<T>(b);
  DeviceVector<T> device_ax = poisoned_on_device<T>(n);
  a->apply(device_x, device_ax);
  const std::vector<double> ax = values_of(device_ax);

  DeviceSums sums;
  DeviceVector<T> y = poisoned_on_device<T>(n);
  fused->apply_dot(device_x, y, sums.data());
  expect_near(y, ax, "y of apply_dot");
  expect_sum<T>(sums.get(0), x, ax);
  expect_sum<T>(sums.get(1), ax, ax);
  const double first = sums.get(0);
  fused->apply_dot(device_x, y, sums.data());
  EXPECT_EQ(sums.get(0), first) << "the same bits in every run";

  std::vector<double> expected(n);
  for (Index i = 0; i < n; ++i) expected[i] = b[i] - ax[i];
  DeviceVector<T> r = poisoned_on_device<T>(n);
  const double beyond = sums.get(1);
  fused->residual(device_b, device_x, r, sums.data());
  expect_near(r, expected, "residual");
  expect_sum<T>(sums.get(0), expected, expected);
  EXPECT_EQ(sums.get(1), beyond) << "residual() has one sum";
  DeviceVector<T> in_place = uploaded<T>(b);
  fused->residual(in_place, device_x, in_place, sums.data());
  expect_near(in_place, expected, "r is b");
}

TEST_P(DeviceKronecker, FusedFormsEqualCompositions) {
  for_each_kind(options(), [](const Problem& problem) {
    expect_fused_operations_equal_compositions<double>(problem);
    expect_fused_operations_equal_compositions<float>(problem);
  });
}

// CG on the fused forms, where x lags behind by an iteration, against the host's without them.
TEST_P(DeviceKronecker, CgEqualsTheHostWithoutFusedForms) {
  ProblemOptions options = DeviceKronecker::options();
  options.boundary = Boundary::dirichlet;
  const Problem problem = make_problem(options);
  const auto host = make_kronecker_operator<double>(problem.form);
  const auto device = make_device_kronecker_operator<double>(problem.form);
  const std::vector<double> rhs = random_values(problem.size(), 41);
  const std::vector<double> guess = random_values(problem.size(), 43);
  const HostVector<double> b = vector_of<double>(rhs);
  const DeviceVector<double> device_b = uploaded<double>(rhs);
  for (const int iterations : {1, 2, 3, 6, 7}) {
    SolveOptions limited;
    limited.relative_tolerance = 1e-300;
    limited.max_iterations = iterations;
    HostVector<double> x = vector_of<double>(guess);
    const SolveReport expected =
        cg<double, Host>(WithoutFusedOperations(*host), nullptr, b, x, limited);
    DeviceVector<double> device_x = uploaded<double>(guess);
    const SolveReport report = cg<double>(*device, nullptr, device_b, device_x, limited);
    ASSERT_EQ(report.iterations, expected.iterations);
    EXPECT_LT(relative_difference(vector_of<double>(values_of(device_x)),
                                  {x.data(), x.data() + x.size()}),
              1e-9)
        << iterations << " iterations";
    EXPECT_NEAR(report.true_relative_residual, expected.true_relative_residual,
                1e-9 * expected.true_relative_residual);
  }
}

TEST_P(DeviceKronecker, EqualsTheHostWithOneDirichletFace) {
  ProblemOptions options = DeviceKronecker::options();
  options.boundary = Boundary::none;
  options.cells[0] = 1;
  for (int face = 0; face < 2 * options.dimension; ++face) {
    Problem problem = make_problem(options);
    problem.form.dirichlet[face] = true;
    SCOPED_TRACE(face);
    expect_equal_to_host<double>(problem);
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, DeviceKronecker,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9)),
                         name_of);

// More than 65535 tiles along y, CUDA's limit of a grid's second axis.
TEST(DeviceKroneckerLongAxes, EqualTheHost) {
  TESSERA_REQUIRE_DEVICE();
  struct Shape {
    int dimension;
    IndexTriple cells;
  };
  for (const Shape& shape : {Shape{2, {8, 1100000, 1}}, Shape{3, {1, 400000, 1}},
                             Shape{3, {1, 1, 400000}}, Shape{2, {1100000, 3, 1}}}) {
    SCOPED_TRACE(shape.cells[1]);
    ProblemOptions options;
    options.dimension = shape.dimension;
    options.degree = 1;
    options.cells = shape.cells;
    options.geometry = Geometry::cartesian;
    options.coefficient = Coefficient::constant;
    options.boundary = Boundary::dirichlet;
    const Problem problem = make_problem(options);
    expect_equal_to_host<double>(problem);
    // The sums of a fused form: one pair a block.
    const std::vector<double> input = random_values(problem.size(), 31);
    const auto a = make_device_kronecker_operator<double>(problem.form);
    const DeviceVector<double> x = uploaded<double>(input);
    DeviceVector<double> y = poisoned_on_device<double>(problem.size());
    DeviceSums sums;
    a->fused()->apply_dot(x, y, sums.data());
    const std::vector<double> product = values_of(y);
    expect_sum<double>(sums.get(0), input, product);
    expect_sum<double>(sums.get(1), product, product);
  }
}

}  // namespace
}  // namespace tessera::testing
