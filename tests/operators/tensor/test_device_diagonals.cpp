// These tests hold diagonals that the GPU adds with one thread a line to those of the host.
#include <gtest/gtest.h>

#include "tests/device_test.hpp"
#include "tests/operators/strategy_checks.hpp"

namespace tessera::testing {
namespace {

class DeviceDiagonals : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }
};

template <class T>
void expect_the_hosts(const BilinearForm& form) {
  const std::vector<double> expected =
      values_of(diagonal_of(*make_operator<double>({"tensor", "coloring"}, form)));
  for (const StrategyName& strategy :
       variants({{"tensor", "atomic"}, {"tensor", "coloring"}}, form, Processor::gpu)) {
    SCOPED_TRACE(strategy.text());
    const auto a = make_operator<T, Device>(strategy, form);
    EXPECT_LT(relative_difference(diagonal_of(*a), expected), 8 * tolerance_of<T>(strategy));
  }
}

TEST_P(DeviceDiagonals, AreThoseOfTheHost) {
  for (const Geometry geometry : {Geometry::curved, Geometry::graded}) {
    for (const Reaction reaction : {Reaction::none, Reaction::variable}) {
      ProblemOptions options;
      options.degree = GetParam();
      options.cells = {3, 2, 3};
      options.geometry = geometry;
      options.reaction = reaction;
      const Problem problem = make_problem(options);
      SCOPED_TRACE(describe(options));
      expect_the_hosts<double>(problem.form);
      expect_the_hosts<float>(problem.form);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, DeviceDiagonals, ::testing::Range(1, 10));

}  // namespace
}  // namespace tessera::testing
