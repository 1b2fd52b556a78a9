// These tests compare fast diagonalization on the GPU with that of the host.
#include <gtest/gtest.h>

#include "operators/fast_diagonalization/fast_diagonalization.hpp"
#include "operators/strategy.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/fast_diagonalization/fast_diagonalization_cases.hpp"
#include "tests/operators/on_device.hpp"
#include "tests/operators/test_names.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

template <class T>
void expect_equal_to_host(const Problem& problem, double eps) {
  const Index n = problem.size();
  const auto host = make_fast_diagonalization<double>(problem.form);
  const auto device = make_fast_diagonalization<T, Device>(problem.form);
  EXPECT_EQ(device->exactness(), host->exactness());
  EXPECT_EQ(device->eigenvalue_range(), host->eigenvalue_range());
  EXPECT_EQ(device->bytes(),
            fast_diagonalization_bytes(problem.discretization->lattice, problem.form.dirichlet,
                                       symmetry_of(problem.form), sizeof(T), Processor::gpu));
  const std::vector<double> input = random_input<T>(n, 23);
  HostVector<double> expected = poisoned<double>(n);
  host->apply(vector_of<double>(input), expected);
  const DeviceVector<T> r = uploaded(vector_of<T>(input));
  HostVector<T> first;
  for (int repetition = 0; repetition < 2; ++repetition) {
    DeviceVector<T> z = uploaded(poisoned<T>(n));
    device->apply(r, z);
    HostVector<T> result = downloaded(z);
    EXPECT_LT(relative_difference(result, {expected.data(), expected.data() + n}), eps);
    if (repetition == 0) {
      first = std::move(result);
    } else {
      EXPECT_TRUE(same_bits(first, result)) << "the same bits in every run";
    }
  }
}

class DeviceFastDiagonalization : public ::testing::TestWithParam<DimensionAndDegree> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }
};

TEST_P(DeviceFastDiagonalization, EqualsTheHost) {
  const auto [dimension, degree] = GetParam();
  const auto check = [](const Problem& problem) {
    expect_equal_to_host<double>(problem, 1e-10);
    expect_equal_to_host<float>(problem, 1e-4);
  };
  for_each_exact_case(dimension, degree, check);
  for_each_approximate_case(dimension, degree, check);
}

INSTANTIATE_TEST_SUITE_P(Degrees, DeviceFastDiagonalization,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8)),
                         name_of);

// More places along x than a block has threads, and planes that are no multiple of a tile.
TEST(DeviceFastDiagonalizationShapes, LongAxesEqualTheHost) {
  TESSERA_REQUIRE_DEVICE();
  for (const IndexTriple& cells :
       {IndexTriple{97, 3, 5}, IndexTriple{2, 70, 3}, IndexTriple{3, 4, 66}}) {
    for (const int dimension : {2, 3}) {
      ProblemOptions options;
      options.dimension = dimension;
      options.degree = 4;
      options.cells = cells;
      options.geometry = Geometry::cartesian;
      options.coefficient = Coefficient::constant;
      options.boundary = Boundary::mixed;
      SCOPED_TRACE(describe(options));
      expect_equal_to_host<double>(make_problem(options), 1e-10);
      options.boundary = Boundary::dirichlet;
      expect_equal_to_host<double>(make_problem(options), 1e-10);
      expect_equal_to_host<float>(make_problem(options), 1e-4);
    }
  }
}

// One free node along an axis, or none.
TEST(DeviceFastDiagonalizationShapes, ThinBoxesEqualTheHost) {
  TESSERA_REQUIRE_DEVICE();
  for (const IndexTriple& cells :
       {IndexTriple{2, 3, 4}, IndexTriple{3, 2, 4}, IndexTriple{2, 2, 2}, IndexTriple{3, 1, 2}}) {
    ProblemOptions options;
    options.degree = 1;
    options.cells = cells;
    options.geometry = Geometry::graded;
    options.coefficient = Coefficient::constant;
    options.boundary = Boundary::dirichlet;
    SCOPED_TRACE(describe(options));
    expect_equal_to_host<double>(make_problem(options), 1e-12);
  }
}

// CG captures the products into its graph.
TEST(DeviceFastDiagonalizationInCg, SolvesCurvedBoxesInFewIterations) {
  TESSERA_REQUIRE_DEVICE();
  ProblemOptions problem_options;
  problem_options.degree = 4;
  problem_options.cells = {7, 6, 5};
  problem_options.boundary = Boundary::mixed;
  const Problem problem = make_problem(problem_options);
  const auto a = make_operator<double, Device>({"tensor", "coloring"}, problem.form);
  const auto m = make_fast_diagonalization<double, Device>(problem.form);
  const DeviceVector<double> b = uploaded(vector_of<double>(random_values(problem.size(), 41)));
  SolveOptions options;
  options.relative_tolerance = 1e-10;
  options.max_iterations = 20000;
  DeviceVector<double> expected(problem.size());
  const SolveReport plain = cg<double>(*a, nullptr, b, expected, options);
  DeviceVector<double> x(problem.size());
  const SolveReport report = cg<double>(*a, m.get(), b, x, options);
  EXPECT_EQ(plain.status, SolveStatus::converged);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_GE(plain.iterations, 5 * report.iterations);
  const HostVector<double> reference = downloaded(expected);
  EXPECT_LT(relative_difference(downloaded(x), {reference.data(), reference.data() + x.size()}),
            1e-6);
}

}  // namespace
}  // namespace tessera::testing
