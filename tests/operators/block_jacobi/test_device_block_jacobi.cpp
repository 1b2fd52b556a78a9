// These tests compare block Jacobi on the GPU with that of the host where there are many blocks.
#include <gtest/gtest.h>

#include <tuple>

#include "operators/block_jacobi/block_jacobi.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/test_names.hpp"

namespace tessera::testing {
namespace {

class DeviceBlockJacobi : public ::testing::TestWithParam<DimensionAndDegree> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }
  static ProblemOptions options() {
    ProblemOptions options;
    options.dimension = std::get<0>(GetParam());
    options.degree = std::get<1>(GetParam());
    const int p = options.degree;
    options.cells = options.dimension == 2 ? IndexTriple{300 / p, 200 / p, 1}
                                           : IndexTriple{60 / p, 44 / p, 36 / p};
    return options;
  }
};

// More blocks than run at a time, the default bricks, and the damping that each finds by itself.
TEST_P(DeviceBlockJacobi, EqualsTheHostOnLargerMeshes) {
  const Problem problem = make_problem(options());
  const auto host = make_block_jacobi<double>(problem.form, {2, 4});
  const auto m = make_block_jacobi<double, Device>(problem.form, {2, 4});
  EXPECT_NEAR(m->damping(), host->damping(), 1e-10);
  EXPECT_NEAR(m->relaxation(), host->relaxation(), 1e-10);
  const HostVector<double> b = vector_of<double>(random_values(problem.size(), 73));
  const HostVector<double> first = applied(*m, b);
  EXPECT_LT(relative_difference(first, values_of(applied(*host, b))), 1e-9);
  EXPECT_TRUE(same_bits(applied(*m, b), first));

  for (const BlockExchange exchange : {BlockExchange::synchronous, BlockExchange::asynchronous}) {
    const FormShape shape = form_shape(problem.form, Processor::gpu, sizeof(double));
    const auto held = make_block_jacobi<double, Device>(problem.form, {1, 1, 1.0, exchange});
    // The head of the queue is not foreseen.
    EXPECT_NEAR(static_cast<double>(held->bytes()),
                static_cast<double>(block_jacobi_bytes(shape, exchange).held), 8.0);
  }
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
