// These tests look at what strategies do on the GPU alone, and hold more forms to the reference.
#include <gtest/gtest.h>

#include <tuple>

#include "mesh/errors.hpp"
#include "operators/cells/element_kernel.hpp"
#include "operators/csr/cusparse.hpp"
#include "operators/csr/device_csr.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/strategy_checks.hpp"
#include "tests/operators/test_names.hpp"

namespace tessera::testing {
namespace {

class DeviceStrategies : public ::testing::TestWithParam<DimensionAndDegree> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }
  static ProblemOptions options() {
    return options_for(Processor::gpu, std::get<0>(GetParam()), std::get<1>(GetParam()));
  }
};

TEST_P(DeviceStrategies, EqualsTheReferenceForOtherRulesAndNodes) {
  ProblemOptions options = DeviceStrategies::options();
  if (options.degree > 4) options.cells = {2, 1, 2};
  for (const int extra : {2, 4}) {
    options.points = options.degree + extra;
    options.geometry = Geometry::curved;
    options.coefficient = Coefficient::variable;
    options.rule = QuadratureRule::gauss;
    expect_equal_to_reference<double, Device>(options);
    options.geometry = Geometry::graded;
    expect_equal_to_reference<double, Device>(options);
    options.rule = QuadratureRule::gauss_lobatto;
    options.geometry = Geometry::cartesian;
    expect_equal_to_reference<double, Device>(options);
    options.coefficient = Coefficient::constant;
    options.nodes = NodeFamily::equidistant;
    expect_equal_to_reference<double, Device>(options);
    options.nodes = NodeFamily::gauss_lobatto;
  }
}

TEST_P(DeviceStrategies, EqualsTheReferenceOnThinMeshesAndEveryBoundary) {
  ProblemOptions options = DeviceStrategies::options();
  if (options.degree > 4) GTEST_SKIP() << "lower degrees show it";
  for (const Boundary boundary : {Boundary::none, Boundary::mixed, Boundary::dirichlet}) {
    options.boundary = boundary;
    for (const IndexTriple& cells :
         {IndexTriple{1, 1, 1}, IndexTriple{13, 1, 1}, IndexTriple{1, 2, 7}}) {
      options.cells = cells;
      if (options.dimension == 2) options.cells[2] = 1;
      expect_equal_to_reference<double, Device>(options);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, DeviceStrategies,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Range(1, 9)),
                         name_of);

TEST(DeviceHighDegrees, EqualTheReference) {
  TESSERA_REQUIRE_DEVICE();
  for (const int degree : {9, 10, 12}) {
    for (const int dimension : {2, 3}) {
      ProblemOptions options;
      options.dimension = dimension;
      options.degree = degree;
      options.cells = {2, 1, dimension == 3 ? 2 : 1};
      // Stored local matrices of these sizes are beside the point.
      const std::vector<StrategyName> strategies = {
          {"tensor", "coloring"}, {"tensor", "atomic"}, {"tensor", "patch"}, {"tensor", "private"}};
      expect_equal_to_reference<double, Device>(options, strategies);
      options.geometry = Geometry::graded;
      expect_equal_to_reference<double, Device>(options, strategies);
      options.geometry = Geometry::cartesian;
      options.coefficient = Coefficient::constant;
      expect_equal_to_reference<double, Device>(options, strategies);
      options.coefficient = Coefficient::variable;
      expect_equal_to_reference<float, Device>(options, strategies);
    }
  }
}

// With one cell no addition meets another, so even no protection is right.
TEST(DeviceUnprotected, IsRightForOneCellAndFarOffOnlyWhereCellsMeet) {
  TESSERA_REQUIRE_DEVICE();
  std::vector<StrategyName> strategies;
  for (const StrategyName& strategy : all_strategies(Processor::gpu)) {
    if (is_for_comparison(strategy)) strategies.push_back(strategy);
  }
  EXPECT_EQ(strategies.size(), 3U);
  for (const int degree : {1, 3, 5}) {
    ProblemOptions options;
    options.degree = degree;
    options.cells = {1, 1, 1};
    expect_equal_to_reference<double, Device>(options, strategies);
  }
}

TEST(DeviceDeterminism, StrategiesSaidToBeDeterministicGiveTheSameBits) {
  TESSERA_REQUIRE_DEVICE();
  ProblemOptions options;
  options.cells = {35, 19, 12};
  const Problem problem = make_problem(options);
  const HostVector<double> x = vector_of<double>(random_values(problem.size(), 29));
  int checked = 0;
  for (const StrategyName& strategy : suitable(right_strategies(Processor::gpu), problem.form)) {
    const ScatterInfo* scatter = find_scatter(strategy.scatter);
    if (find_kernel(strategy.kernel)->deterministic_on_gpu == Deterministic::no) continue;
    if (scatter != nullptr && scatter->deterministic == Deterministic::no) continue;
    ++checked;
    const auto a = make_operator<double, Device>(strategy, problem.form);
    const auto remade = make_operator<double, Device>(strategy, problem.form);
    const HostVector<double> first = applied(*a, x);
    for (int repetition = 0; repetition < 10; ++repetition) {
      ASSERT_TRUE(same_bits(first, applied(repetition % 2 == 0 ? *a : *remade, x)))
          << strategy.text();
    }
  }
  // csr, csr-single, and coloring and private of tensor, local and local-thread.
  EXPECT_EQ(checked, 8);
}

TEST(DeviceProperties, OperatorsAreSymmetric) {
  TESSERA_REQUIRE_DEVICE();
  ProblemOptions options;
  options.degree = 3;
  options.cells = {6, 5, 4};
  options.coefficient = Coefficient::constant;
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
    options.geometry = geometry;
    const Problem problem = make_problem(options);
    const HostVector<double> x = vector_of<double>(random_values(problem.size(), 31));
    const HostVector<double> y = vector_of<double>(random_values(problem.size(), 37));
    for (const StrategyName& variant :
         variants(right_strategies(Processor::gpu), problem.form, Processor::gpu)) {
      const auto a = make_operator<double, Device>(variant, problem.form);
      const double left = dot(applied(*a, x), y);
      const double right = dot(applied(*a, y), x);
      EXPECT_NEAR(left, right, 1e-12 * norm(applied(*a, x)) * norm(y)) << variant.text();
    }
  }
}

TEST(DeviceSizes, AreForeseen) {
  TESSERA_REQUIRE_DEVICE();
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved, Geometry::graded}) {
    ProblemOptions options;
    options.cells = {7, 6, 5};
    options.geometry = geometry;
    options.coefficient = Coefficient::constant;
    options.boundary = Boundary::dirichlet;
    const Problem problem = make_problem(options);
    const FormShape shape = form_shape(problem.form, Processor::gpu, sizeof(double));
    for (const StrategyName& strategy : suitable(all_strategies(Processor::gpu), problem.form)) {
      const auto held =
          static_cast<double>(make_operator<double, Device>(strategy, problem.form)->bytes());
      const auto foreseen = static_cast<double>(operator_bytes(strategy, shape).held);
      // Tables of a few kilobytes and cuSPARSE's workspace are not foreseen to the byte.
      EXPECT_NEAR(held, foreseen, 0.05 * foreseen + (1 << 16)) << strategy.text();
      EXPECT_GE(operator_bytes(strategy, shape).peak, operator_bytes(strategy, shape).held)
          << strategy.text();
    }
  }
}

TEST(DeviceSparseMatrix, OfCusparseIsTheSameInSlabs) {
  TESSERA_REQUIRE_DEVICE();
  ProblemOptions options;
  options.cells = {5, 4, 3};
  const Problem problem = make_problem(options);
  const std::vector<double> input = random_values(problem.size(), 41);
  const std::vector<double> expected = Reference(problem.form).apply(input);
  const std::vector<double> expected_diagonal = Reference(problem.form).diagonal();
  const auto kernel = make_device_element_kernel<double>(problem.form);
  for (const Index entries : {1, 1000, 20000}) {
    const auto a = make_cusparse_operator<double>(problem.form, *kernel, entries);
    const HostVector<double> x = vector_of<double>(input);
    EXPECT_LT(relative_difference(applied(*a, x), expected), kDoubleTolerance) << entries;
    EXPECT_LT(relative_difference(diagonal_of(*a), expected_diagonal), kDoubleTolerance) << entries;
  }
}

// Rounded entries keep the sums of their rows, so that constants, to which A is small, keep A x.
TEST(DeviceSparseMatrix, WithRoundedEntriesKeepsSumsOfRows) {
  TESSERA_REQUIRE_DEVICE();
  for (const int degree : {1, 2, 4}) {
    ProblemOptions options;
    options.degree = degree;
    options.cells = {5, 4, 3};
    const Problem problem = make_problem(options);
    const auto kernel = make_device_element_kernel<double>(problem.form);
    const auto a = make_rounded_csr_operator<double>(problem.form, *kernel);
    const std::vector<double> ones(problem.size(), 1.0);
    const HostVector<double> of_ones = applied(*a, vector_of<double>(ones));
    const std::vector<double> expected = Reference(problem.form).apply(ones);
    EXPECT_LT(relative_difference(of_ones, expected), 1e-11);
    const std::vector<double> input = random_values(problem.size(), 43);
    const double difference = relative_difference(applied(*a, vector_of<double>(input)),
                                                  Reference(problem.form).apply(input));
    EXPECT_LT(difference, 1e-6);
    EXPECT_GT(difference, 1e-10) << "nothing is rounded";
  }
}

// From one entry, of a constrained row, to (2 p + 1)^d; groups of threads go by the mean.
TEST(DeviceSparseMatrix, IsRightForRowsOfEveryLength) {
  TESSERA_REQUIRE_DEVICE();
  const std::vector<StrategyName> strategies = {{"csr"}, {"csr-single"}, {"csr-cusparse"}};
  for (const int dimension : {2, 3}) {
    for (const int degree : {1, 2, 3, 5, 7, 9}) {
      for (const IndexTriple& cells : {IndexTriple{1, 1, 1}, IndexTriple{3, 2, 2}}) {
        ProblemOptions options;
        options.dimension = dimension;
        options.degree = degree;
        options.cells = {cells[0], cells[1], dimension == 3 ? cells[2] : 1};
        options.coefficient = Coefficient::constant;
        options.geometry = Geometry::cartesian;
        options.boundary = Boundary::mixed;
        expect_equal_to_reference<double, Device>(options, strategies);
        expect_equal_to_reference<float, Device>(options, strategies);
      }
    }
  }
}

ProblemOptions small_options() {
  ProblemOptions options;
  options.cells = {3, 3, 3};
  return options;
}

TEST(DeviceErrors, BadCoefficientsAndRobinTermsAreNamed) {
  TESSERA_REQUIRE_DEVICE();
  const Problem problem = make_problem(small_options());
  for (const StrategyName& variant :
       variants(right_strategies(Processor::gpu), problem.form, Processor::gpu)) {
    BilinearForm form = problem.form;
    form.coefficient = field_of([](double x, double, double) { return x > 0.4 ? -1.0 : 1.0; });
    EXPECT_THROW((make_operator<double, Device>(variant, form)), BadFieldValue) << variant.text();
    form = problem.form;
    form.robin.front().alpha = constant_field(-1.0);
    EXPECT_THROW((make_operator<double, Device>(variant, form)), BadFieldValue) << variant.text();
  }
}

TEST(DeviceErrors, BadConstantsAreNamedByEveryStrategy) {
  TESSERA_REQUIRE_DEVICE();
  ProblemOptions options = small_options();
  options.geometry = Geometry::cartesian;
  options.coefficient = Coefficient::constant;
  const Problem problem = make_problem(options);
  for (const StrategyName& strategy :
       suitable(right_strategies(Processor::gpu), problem.form, Processor::gpu)) {
    BilinearForm form = problem.form;
    form.coefficient = constant_field(-1.0);
    EXPECT_THROW((make_operator<double, Device>(strategy, form)), BadFieldValue) << strategy.text();
    form = problem.form;
    form.robin.front().alpha = constant_field(-1.0);
    EXPECT_THROW((make_operator<double, Device>(strategy, form)), BadFieldValue) << strategy.text();
  }
}

TEST(DeviceErrors, AFormThatAStrategyIsNotForIsRefused) {
  TESSERA_REQUIRE_DEVICE();
  const Problem problem = make_problem(small_options());
  EXPECT_THROW((make_operator<double, Device>({"kronecker", "none"}, problem.form)),
               std::invalid_argument);
}

TEST(DeviceErrors, InvertedCellsAreNamed) {
  TESSERA_REQUIRE_DEVICE();
  const BoxMesh mesh(2, {9, 5, 1}, {0, 0, 0}, {9, 5, 0});
  const auto folded = [](double x, double y, double) {
    return x > 6.0 && y > 2.5 ? 6.0 - 3.0 * (x - 6.0) : x;
  };
  const Discretization discretization = make_mapped_discretization(
      mesh, make_basis(1, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 2),
      {field_of(folded), field_of([](double, double y, double) { return y; }),
       field_of([](double, double, double z) { return z; })});
  const BilinearForm form{&discretization, constant_field(1.0), {}, {}};
  for (const StrategyName& variant :
       variants(right_strategies(Processor::gpu), form, Processor::gpu)) {
    try {
      make_operator<double, Device>(variant, form);
      FAIL() << variant.text() << " accepted an inverted cell";
    } catch (const InvertedCell& error) {
      EXPECT_EQ(error.cell(), (IndexTriple{6, 2, 0})) << variant.text();
    }
  }
}

TEST(DeviceStrategyNames, ThoseOfTheHostAloneAreRefused) {
  TESSERA_REQUIRE_DEVICE();
  const Problem problem = make_problem(small_options());
  for (const StrategyName& strategy :
       {StrategyName{"tensor", "serial"}, StrategyName{"local", "patch"},
        StrategyName{"csr", "atomic"}, StrategyName{"tensor", "none"},
        StrategyName{"tensors", "atomic"}}) {
    EXPECT_THROW((make_operator<double, Device>(strategy, problem.form)), std::invalid_argument)
        << strategy.text();
  }
}

}  // namespace
}  // namespace tessera::testing
