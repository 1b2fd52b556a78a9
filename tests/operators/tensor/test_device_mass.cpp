// These tests hold mass matrices of the GPU, forms with k = 0, to the reference.
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "mesh/errors.hpp"
#include "operators/form/updatable.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/strategy_checks.hpp"
#include "tests/operators/test_names.hpp"

namespace tessera::testing {
namespace {

Problem make_mass_problem(ProblemOptions options, Geometry geometry, Reaction reaction) {
  options.geometry = geometry;
  options.coefficient = Coefficient::constant;
  options.reaction = reaction;
  Problem problem = make_problem(options);
  problem.form.coefficient = constant_field(0.0);
  return problem;
}

std::vector<StrategyName> tensor_strategies() {
  std::vector<StrategyName> strategies = right_strategies(Processor::gpu);
  std::erase_if(strategies,
                [](const StrategyName& strategy) { return strategy.kernel != "tensor"; });
  return strategies;
}

/// f(geometry, reaction) for all kinds of factors.
template <class F>
void for_each_kind(F&& f) {
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved, Geometry::graded}) {
    for (const Reaction reaction : {Reaction::constant, Reaction::variable}) f(geometry, reaction);
  }
}

class DeviceMassMatrices : public ::testing::TestWithParam<DimensionAndDegree> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }
  static ProblemOptions options() {
    return options_for(Processor::gpu, std::get<0>(GetParam()), std::get<1>(GetParam()));
  }
};

TEST_P(DeviceMassMatrices, EqualTheReference) {
  ProblemOptions options = DeviceMassMatrices::options();
  for_each_kind([&](Geometry geometry, Reaction reaction) {
    SCOPED_TRACE(describe(options));
    const Problem problem = make_mass_problem(options, geometry, reaction);
    expect_equal_to_reference<double, Device>(problem, right_strategies(Processor::gpu));
    expect_equal_to_reference<float, Device>(problem, right_strategies(Processor::gpu));
  });
}

TEST_P(DeviceMassMatrices, EqualTheReferenceForOtherRulesAndNodes) {
  ProblemOptions options = DeviceMassMatrices::options();
  for (const QuadratureRule rule : {QuadratureRule::gauss, QuadratureRule::gauss_lobatto}) {
    options.rule = rule;
    for (const int extra : {1, 2, 4}) {
      options.points = options.degree + extra;
      for_each_kind([&](Geometry geometry, Reaction reaction) {
        SCOPED_TRACE(describe(options));
        expect_equal_to_reference<double, Device>(make_mass_problem(options, geometry, reaction),
                                                  tensor_strategies());
      });
    }
    options.nodes = NodeFamily::equidistant;
  }
}

TEST_P(DeviceMassMatrices, EqualTheReferenceOnThinMeshesAndEveryBoundary) {
  ProblemOptions options = DeviceMassMatrices::options();
  if (options.degree > 4) GTEST_SKIP() << "lower degrees show it";
  for (const Boundary boundary : {Boundary::none, Boundary::mixed, Boundary::dirichlet}) {
    options.boundary = boundary;
    for (const IndexTriple& cells :
         {IndexTriple{1, 1, 1}, IndexTriple{13, 1, 1}, IndexTriple{1, 2, 7}}) {
      options.cells = cells;
      if (options.dimension == 2) options.cells[2] = 1;
      for_each_kind([&](Geometry geometry, Reaction reaction) {
        SCOPED_TRACE(describe(options));
        expect_equal_to_reference<double, Device>(make_mass_problem(options, geometry, reaction),
                                                  tensor_strategies());
      });
    }
  }
}

TEST_P(DeviceMassMatrices, AreUpdated) {
  const ProblemOptions options = DeviceMassMatrices::options();
  for_each_kind([&](Geometry geometry, Reaction reaction) {
    const Problem problem = make_mass_problem(options, geometry, reaction);
    BilinearForm next = problem.form;
    next.reaction = reaction == Reaction::constant
                        ? constant_field(11.25)
                        : field_of([](double x, double y, double) { return 1.0 + x * x * y * y; });
    BilinearForm with_gradients = next;
    with_gradients.coefficient = constant_field(1.0);
    const HostVector<double> x = vector_of<double>(random_values(problem.size(), 3));
    for (const StrategyName& variant :
         variants({{"tensor", "coloring"}}, problem.form, Processor::gpu)) {
      SCOPED_TRACE(variant.text());
      const auto a = make_operator<double, Device>(variant, problem.form);
      ASSERT_EQ(update_in_place(*a, next), Updated::yes);
      const auto made = make_operator<double, Device>(variant, next);
      EXPECT_TRUE(same_bits(applied(*a, x), applied(*made, x)));
      EXPECT_TRUE(same_bits(diagonal_of(*a), diagonal_of(*made)));
      EXPECT_EQ(update_in_place(*a, with_gradients), Updated::no);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Degrees, DeviceMassMatrices,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Range(1, 9)),
                         name_of);

TEST(DeviceMassMatrix, EqualsTheReferenceForHighDegrees) {
  TESSERA_REQUIRE_DEVICE();
  for (const int degree : {9, 12}) {
    for (const int dimension : {2, 3}) {
      ProblemOptions options;
      options.dimension = dimension;
      options.degree = degree;
      options.cells = {2, 1, dimension == 3 ? 2 : 1};
      for_each_kind([&](Geometry geometry, Reaction reaction) {
        const Problem problem = make_mass_problem(options, geometry, reaction);
        expect_equal_to_reference<double, Device>(problem, tensor_strategies());
        expect_equal_to_reference<float, Device>(problem, tensor_strategies());
      });
    }
  }
}

// 32 bytes per DoF and a factor for the faces of cells at the boundary.
TEST(DeviceMassMatrix, CostsLessThanStiffness) {
  TESSERA_REQUIRE_DEVICE();
  ProblemOptions options;
  options.degree = 4;
  options.cells = {8, 8, 8};
  const Problem problem = make_mass_problem(options, Geometry::curved, Reaction::variable);
  BilinearForm stiffness = problem.form;
  stiffness.coefficient = constant_field(1.0);
  for (const StrategyName& variant :
       variants({{"tensor", "atomic"}}, problem.form, Processor::gpu)) {
    SCOPED_TRACE(variant.text());
    const auto mass = make_operator<double, Device>(variant, problem.form);
    const auto whole = make_operator<double, Device>(variant, stiffness);
    EXPECT_LT(mass->cost().bytes, 32.0 * static_cast<double>(problem.size()));
    EXPECT_LT(mass->cost().flops, 0.5 * whole->cost().flops);
    EXPECT_EQ(mass->name(), whole->name());
  }
}

TEST(DeviceMassMatrix, NamesABadCapacity) {
  TESSERA_REQUIRE_DEVICE();
  const Problem problem = make_mass_problem({}, Geometry::curved, Reaction::variable);
  for (const StrategyName& variant : variants(tensor_strategies(), problem.form, Processor::gpu)) {
    BilinearForm form = problem.form;
    form.reaction = field_of([](double x, double, double) { return x > 0.4 ? -1.0 : 1.0; });
    EXPECT_THROW((make_operator<double, Device>(variant, form)), BadFieldValue) << variant.text();
    form.reaction = constant_field(-1.0);
    EXPECT_THROW((make_operator<double, Device>(variant, form)), BadFieldValue) << variant.text();
  }
}

}  // namespace
}  // namespace tessera::testing
