// These tests compare block Jacobi on the GPU with sweeps on a dense matrix.
#include <gtest/gtest.h>

#include <tuple>

#include "operators/block_jacobi/block_jacobi.hpp"
#include "operators/csr/csr.hpp"
#include "operators/strategy.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/block_jacobi/block_reference.hpp"
#include "tests/operators/block_jacobi/convergence_spread.hpp"
#include "tests/operators/on_device.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/test_names.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

class DeviceBlockJacobi : public ::testing::TestWithParam<DimensionAndDegree> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }
  static ProblemOptions options() {
    ProblemOptions options;
    options.dimension = std::get<0>(GetParam());
    options.degree = std::get<1>(GetParam());
    options.cells = cells_of_few_nodes(options.dimension, options.degree);
    return options;
  }
};

template <class T>
void expect_equal_to_reference(const Problem& problem) {
  const IndexTriple brick = small_brick(problem.form.discretization->lattice.dimension());
  const DenseBlockJacobi reference(problem.form, brick);
  const std::vector<double> b = random_input<T>(problem.size(), 51);
  const std::vector<double> guess = random_input<T>(problem.size(), 53);
  const std::vector<double> zero(b.size());
  for (const int sweeps : {1, 2, 3}) {
    for (const int local_sweeps : {1, 4}) {
      const auto m = make_block_jacobi<T, Device>(problem.form, {sweeps, local_sweeps}, brick);
      const BlockSweep sweep{local_sweeps, m->damping(), m->relaxation()};
      DeviceVector<T> z = poisoned_on_device<T>(problem.size());
      m->apply(uploaded<T>(b), z);
      EXPECT_LT(relative_difference(downloaded(z), reference.smooth(b, zero, sweeps, sweep)),
                tolerance<T>())
          << sweeps << " sweeps of " << local_sweeps;
      DeviceVector<T> x = uploaded<T>(guess);
      m->smooth(uploaded<T>(b), x);
      EXPECT_LT(relative_difference(downloaded(x), reference.smooth(b, guess, sweeps, sweep)),
                tolerance<T>())
          << sweeps << " sweeps of " << local_sweeps << " from a guess";
    }
  }
}

TEST_P(DeviceBlockJacobi, EqualsTheReference) {
  ProblemOptions options = DeviceBlockJacobi::options();
  for (const Boundary boundary : {Boundary::none, Boundary::mixed, Boundary::dirichlet}) {
    options.boundary = boundary;
    SCOPED_TRACE(describe(options));
    const Problem problem = make_problem(options);
    expect_equal_to_reference<double>(problem);
    expect_equal_to_reference<float>(problem);
  }
}

// More blocks than run at a time, the default bricks, and the damping that each finds by itself.
TEST_P(DeviceBlockJacobi, EqualsTheHostOnLargerMeshes) {
  ProblemOptions options = DeviceBlockJacobi::options();
  const int p = options.degree;
  options.cells = options.dimension == 2 ? IndexTriple{300 / p, 200 / p, 1}
                                         : IndexTriple{60 / p, 44 / p, 36 / p};
  const Problem problem = make_problem(options);
  const auto host = make_block_jacobi<double>(problem.form, {2, 4});
  const auto m = make_block_jacobi<double, Device>(problem.form, {2, 4});
  EXPECT_NEAR(m->damping(), host->damping(), 1e-10);
  EXPECT_NEAR(m->relaxation(), host->relaxation(), 1e-10);
  const std::vector<double> b = random_values(problem.size(), 73);
  HostVector<double> expected(problem.size());
  host->apply(vector_of<double>(b), expected);
  const DeviceVector<double> r = uploaded<double>(b);
  DeviceVector<double> z = poisoned_on_device<double>(problem.size());
  m->apply(r, z);
  const HostVector<double> first = downloaded(z);
  EXPECT_LT(relative_difference(first, {expected.data(), expected.data() + expected.size()}), 1e-9);
  m->apply(r, z);
  EXPECT_TRUE(same_bits(downloaded(z), first));

  for (const BlockExchange exchange : {BlockExchange::synchronous, BlockExchange::asynchronous}) {
    const FormShape shape = form_shape(problem.form, Processor::gpu, sizeof(double));
    const auto held = make_block_jacobi<double, Device>(problem.form, {1, 1, 1.0, exchange});
    // The head of the queue is not foreseen.
    EXPECT_NEAR(static_cast<double>(held->bytes()),
                static_cast<double>(block_jacobi_bytes(shape, exchange).held), 8.0);
  }
}

TEST_P(DeviceBlockJacobi, AsynchronousSweepsConvergeToTheSolutionOfCg) {
  const Problem problem = make_problem(options());
  const auto a = make_csr_matrix<double>(problem.form);
  const std::vector<double> b = random_values(problem.size(), 59);
  HostVector<double> expected(problem.size());
  SolveOptions exact;
  exact.relative_tolerance = 1e-13;
  ASSERT_LT(
      (cg<double, Host>(*a, nullptr, vector_of<double>(b), expected, exact).true_relative_residual),
      1e-11);
  const auto m = make_block_jacobi<double, Device>(
      problem.form, {8, 4, 0.0, BlockExchange::asynchronous},
      small_brick(problem.form.discretization->lattice.dimension()));
  const DeviceVector<double> device_b = uploaded<double>(b);
  for (int run = 0; run < 3; ++run) {
    DeviceVector<double> x = poisoned_on_device<double>(problem.size());
    m->smooth_from_zero(device_b, x);
    // Blocks that run at the same time see less of each other than those of few threads.
    for (int call = 0; call < 2000; ++call) m->smooth(device_b, x);
    EXPECT_LT(
        relative_difference(downloaded(x), {expected.data(), expected.data() + expected.size()}),
        1e-9);
  }
}

// CG replays what apply() launches as a CUDA graph.
TEST_P(DeviceBlockJacobi, WithCgHasThePlainSolutionInFewerIterationsThanJacobi) {
  ProblemOptions options = DeviceBlockJacobi::options();
  const int p = options.degree;
  options.cells =
      options.dimension == 2 ? IndexTriple{48 / p, 36 / p, 1} : IndexTriple{20 / p, 16 / p, 12 / p};
  const Problem problem = make_problem(options);
  const auto a = make_operator<double, Device>({"csr", "none"}, problem.form);
  const DeviceVector<double> b = uploaded<double>(random_values(problem.size(), 67));
  SolveOptions tight;
  tight.relative_tolerance = 1e-12;
  DeviceVector<double> plain(problem.size());
  ASSERT_EQ(cg<double>(*a, nullptr, b, plain, tight).status, SolveStatus::converged);
  const HostVector<double> expected = downloaded(plain);
  const Jacobi<double, Device> jacobi(*a);
  DeviceVector<double> x(problem.size());
  const int of_jacobi = cg<double>(*a, &jacobi, b, x, tight).iterations;
  for (const int sweeps : {1, 2, 3}) {
    const auto m = make_block_jacobi<double, Device>(problem.form, {sweeps, 4});
    fill(x, 0.0);
    const SolveReport report = cg<double>(*a, m.get(), b, x, tight);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_LT(report.iterations, 0.8 * of_jacobi) << sweeps << " sweeps";
    EXPECT_LT(
        relative_difference(downloaded(x), {expected.data(), expected.data() + expected.size()}),
        1e-9);
  }
}

TEST_P(DeviceBlockJacobi, ResidualsOfTheAsynchronousMethodFallWhereTheMatrixIsSingular) {
  ProblemOptions options = DeviceBlockJacobi::options();
  options.boundary = Boundary::none;
  const Problem problem = make_problem(options);
  const auto a = make_operator<double, Device>({"csr", "none"}, problem.form);
  DeviceVector<double> b(problem.size());
  a->apply(uploaded<double>(random_values(problem.size(), 61)), b);
  const IndexTriple brick = small_brick(problem.form.discretization->lattice.dimension());
  const auto asynchronous = make_block_jacobi<double, Device>(
      problem.form, {2, 4, 0.0, BlockExchange::asynchronous}, brick);
  const auto synchronous = make_block_jacobi<double, Device>(problem.form, {2, 4}, brick);
  const auto spreads =
      convergence_spread<double, Device>(*a, *asynchronous, *synchronous, b, 50, 3);
  EXPECT_LT(spreads.back().most, 0.2);
  EXPECT_LT(spreads.back().synchronous, 0.2);
}

TEST(DeviceBlockRows, RefuseBlocksBeyondSharedMemory) {
  TESSERA_REQUIRE_DEVICE();
  ProblemOptions options;
  options.dimension = 2;
  options.degree = 1;
  options.cells = {32, 32, 1};
  const Problem problem = make_problem(options);
  EXPECT_THROW((make_block_jacobi<double, Device>(problem.form, {1, 1}, {33, 33, 1})),
               std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Degrees, DeviceBlockJacobi,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Values(1, 2, 3, 4)),
                         name_of);

}  // namespace
}  // namespace tessera::testing
