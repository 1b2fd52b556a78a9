// These tests hold every strategy to the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "tests/everywhere.hpp"
#include "tests/operators/strategy_checks.hpp"
#include "tests/operators/test_names.hpp"

namespace tessera::testing {
namespace {

// Thread counts take turns over the degrees; ThreadsAndBricks has all of them.
int threads_for(int degree) { return 1 + degree % 3; }

class EveryStrategy : public EveryProcessorTest<DegreeAndProcessor> {
 protected:
  static ProblemOptions options() {
    const auto [dimension, degree, processor] = GetParam();
    return options_for(processor, dimension, degree);
  }
};

TEST_P(EveryStrategy, EqualsTheReference) {
  ProblemOptions options = EveryStrategy::options();
  const ThreadsInUse threads(threads_for(options.degree));
  in_space_of_processor([&]<class Space>() {
    for (const Geometry geometry : {Geometry::cartesian, Geometry::curved, Geometry::graded}) {
      for (const Coefficient coefficient : {Coefficient::constant, Coefficient::variable}) {
        options.geometry = geometry;
        options.coefficient = coefficient;
        expect_equal_to_reference<double, Space>(options);
      }
    }
  });
}

TEST_P(EveryStrategy, EqualsTheReferenceInSinglePrecision) {
  ProblemOptions options = EveryStrategy::options();
  const ThreadsInUse threads(threads_for(options.degree));
  // Rows longer than the 16 lanes of a float vector.
  if (options.dimension == 2) options.cells[0] = 17;
  in_space_of_processor([&]<class Space>() {
    expect_equal_to_reference<float, Space>(options);
    options.geometry = Geometry::cartesian;
    expect_equal_to_reference<float, Space>(options);
    options.coefficient = Coefficient::constant;
    expect_equal_to_reference<float, Space>(options);
    options.geometry = Geometry::graded;
    expect_equal_to_reference<float, Space>(options);
  });
}

// With the reaction as large as the stiffness of a cell.
TEST_P(EveryStrategy, EqualsTheReferenceWithReaction) {
  ProblemOptions options = EveryStrategy::options();
  const ThreadsInUse threads(threads_for(options.degree));
  in_space_of_processor([&]<class Space>() {
    for (const Reaction reaction : {Reaction::constant, Reaction::variable}) {
      options.reaction = reaction;
      for (const Geometry geometry : {Geometry::cartesian, Geometry::curved, Geometry::graded}) {
        options.geometry = geometry;
        // Curved cells have factors of their own whatever the coefficient is.
        options.coefficient =
            geometry == Geometry::curved ? Coefficient::variable : Coefficient::constant;
        expect_equal_to_reference<double, Space>(options);
        if (geometry == Geometry::curved) expect_equal_to_reference<float, Space>(options);
      }
      options.rule = QuadratureRule::gauss_lobatto;
    }
    options.geometry = Geometry::cartesian;
    options.coefficient = Coefficient::variable;
    expect_equal_to_reference<double, Space>(options);
  });
}

INSTANTIATE_TEST_SUITE_P(Degrees, EveryStrategy,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Range(1, 9),
                                            ::testing::ValuesIn(every_processor())),
                         name_with_processor);

class EveryHostStrategy : public ::testing::TestWithParam<DimensionAndDegree> {
 protected:
  static ProblemOptions options() {
    return options_for(Processor::cpu, std::get<0>(GetParam()), std::get<1>(GetParam()));
  }
  static int threads() { return threads_for(std::get<1>(GetParam())); }
};

// High degrees have few cells above; here every lane of a SIMD vector has a cell of its own.
TEST_P(EveryHostStrategy, EqualsTheReferenceOnFullBatches) {
  ProblemOptions options = EveryHostStrategy::options();
  const std::vector<StrategyName> strategies = {{"tensor", "serial"}, {"tensor", "coloring"}};
  options.cells = {9, 1, 1};
  expect_equal_to_reference<double>(make_problem(options), strategies);
  options.cells = {17, 1, 1};
  expect_equal_to_reference<float>(make_problem(options), strategies);
}

// The same with a rest, a point more and nothing free on the boundary.
TEST_P(EveryHostStrategy, EqualsTheReferenceOnFullBatchesWithMorePoints) {
  ProblemOptions options = EveryHostStrategy::options();
  options.boundary = Boundary::dirichlet;
  const std::vector<StrategyName> strategies = {{"tensor", "coloring"}};
  options.points = options.degree + 2;
  for (const QuadratureRule rule : {QuadratureRule::gauss, QuadratureRule::gauss_lobatto}) {
    options.rule = rule;
    options.cells = {11, 2, 1};
    expect_equal_to_reference<double>(make_problem(options), strategies);
    options.cells = {19, 2, 1};
    expect_equal_to_reference<float>(make_problem(options), strategies);
  }
}

// Rows of one cell, of fewer cells than lanes, of whole batches and of batches and a rest, with
// every face constrained and every scatter policy.
TEST(TensorRows, EqualTheReferenceForRowsOfAnyLength) {
  const ThreadsInUse threads(2);
  ProblemOptions options;
  options.boundary = Boundary::dirichlet;
  std::vector<StrategyName> strategies;
  for (const StrategyName& strategy : all_strategies(Processor::cpu)) {
    if (strategy.kernel == "tensor") strategies.push_back(strategy);
  }
  ASSERT_GE(strategies.size(), 4u);
  for (const int degree : {1, 2, 3}) {
    options.degree = degree;
    for (const Index cells : {1, 3, 8, 16, 19}) {
      options.cells = {cells, 3, 2};
      for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
        options.geometry = geometry;
        options.coefficient =
            geometry == Geometry::cartesian ? Coefficient::constant : Coefficient::variable;
        SCOPED_TRACE(describe(options));
        const Problem problem = make_problem(options);
        expect_equal_to_reference<double>(problem, strategies);
        expect_equal_to_reference<float>(problem, strategies);
      }
    }
  }
}

// Bricks with neighbors along every axis, of rows, of rows and a rest, and of a rest alone: entries
// that coloring sets and entries that it adds to.
template <class T>
void expect_coloring_equal_to_serial(const ProblemOptions& options) {
  SCOPED_TRACE(describe(options));
  const Problem problem = make_problem(options);
  const HostVector<T> x = vector_of<T>(random_values(problem.size(), 31));
  const auto serial = make_operator<T>({"tensor", "serial"}, problem.form);
  const auto coloring = make_operator<T>({"tensor", "coloring"}, problem.form);
  const HostVector<T> sum = applied(*serial, x);
  const std::vector<double> expected(sum.data(), sum.data() + sum.size());
  EXPECT_LT(relative_difference(applied(*coloring, x), expected), tolerance<T>());
}

TEST(TensorBricks, SumByColorsWhatOneThreadSumsInOrder) {
  for (const int count : {1, 3}) {
    const ThreadsInUse threads(count);
    ProblemOptions options;
    for (const Boundary boundary : {Boundary::none, Boundary::mixed}) {
      options.boundary = boundary;
      for (const int degree : {1, 2, 3, 5}) {
        options.degree = degree;
        for (const IndexTriple& cells : {IndexTriple{19, 13, 9}, IndexTriple{67, 9, 3},
                                         IndexTriple{40, 5, 8}, IndexTriple{130, 5, 4}}) {
          options.cells = cells;
          options.geometry = Geometry::curved;
          options.coefficient = Coefficient::variable;
          expect_coloring_equal_to_serial<double>(options);
          options.geometry = Geometry::cartesian;
          options.coefficient = Coefficient::constant;
          expect_coloring_equal_to_serial<double>(options);
          expect_coloring_equal_to_serial<float>(options);
        }
      }
    }
  }
}

TEST_P(EveryHostStrategy, EqualsTheReferenceWithMorePoints) {
  const ThreadsInUse threads(EveryHostStrategy::threads());
  ProblemOptions options = EveryHostStrategy::options();
  if (options.degree > 4) options.cells = {2, 1, 2};
  for (const int extra : {2, 4}) {
    options.points = options.degree + extra;
    options.geometry = Geometry::curved;
    options.coefficient = Coefficient::variable;
    expect_equal_to_reference<double>(options);
    options.geometry = Geometry::cartesian;
    options.coefficient = Coefficient::constant;
    expect_equal_to_reference<double>(options);
  }
}

TEST_P(EveryHostStrategy, EqualsTheReferenceWithGaussLobattoPoints) {
  const ThreadsInUse threads(EveryHostStrategy::threads());
  ProblemOptions options = EveryHostStrategy::options();
  if (options.degree > 4) options.cells = {2, 1, 2};
  options.rule = QuadratureRule::gauss_lobatto;
  for (const int extra : {1, 2}) {
    options.points = options.degree + extra;
    options.geometry = Geometry::curved;
    options.coefficient = Coefficient::variable;
    expect_equal_to_reference<double>(options);
    options.geometry = Geometry::graded;
    expect_equal_to_reference<double>(options);
    options.geometry = Geometry::cartesian;
    expect_equal_to_reference<double>(options);
    options.coefficient = Coefficient::constant;
    expect_equal_to_reference<double>(options);
  }
}

TEST_P(EveryHostStrategy, EqualsTheReferenceWithEquidistantNodes) {
  const ThreadsInUse threads(EveryHostStrategy::threads());
  ProblemOptions options = EveryHostStrategy::options();
  if (options.degree > 4) options.cells = {2, 1, 2};
  options.nodes = NodeFamily::equidistant;
  expect_equal_to_reference<double>(options);
  options.geometry = Geometry::cartesian;
  options.coefficient = Coefficient::constant;
  options.rule = QuadratureRule::gauss_lobatto;
  expect_equal_to_reference<double>(options);
}

INSTANTIATE_TEST_SUITE_P(Degrees, EveryHostStrategy,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Range(1, 9)),
                         name_of);

class HighDegree : public ::testing::TestWithParam<DimensionAndDegree> {};

TEST_P(HighDegree, EqualsTheReferenceByTheRunTimePath) {
  const auto [dimension, degree] = GetParam();
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  options.cells = dimension == 2 ? IndexTriple{3, 2, 1} : IndexTriple{2, 1, 1};
  expect_equal_to_reference<double>(options);
  options.geometry = Geometry::graded;
  expect_equal_to_reference<double>(options);
  options.geometry = Geometry::cartesian;
  options.coefficient = Coefficient::constant;
  expect_equal_to_reference<double>(options);
}

INSTANTIATE_TEST_SUITE_P(Degrees, HighDegree,
                         ::testing::Values(std::tuple{2, 9}, std::tuple{2, 10}, std::tuple{2, 12},
                                           std::tuple{2, 16}, std::tuple{3, 9}, std::tuple{3, 10}),
                         name_of);

// All strategies but those that compute local matrices: these have a quarter of a billion entries.
TEST(HighDegree3d, TensorEqualsTheReferenceAtDegree12) {
  ProblemOptions options;
  options.degree = 12;
  options.cells = {2, 1, 1};
  expect_equal_to_reference<double>(make_problem(options),
                                    {{"tensor", "serial"}, {"tensor", "coloring"}});
}

class CellCounts : public ::testing::TestWithParam<std::tuple<int, IndexTriple>> {};

TEST_P(CellCounts, EqualsTheReference) {
  ProblemOptions options;
  options.dimension = std::get<0>(GetParam());
  options.cells = std::get<1>(GetParam());
  for (const int degree : {1, 2, 3}) {
    options.degree = degree;
    options.geometry = Geometry::curved;
    options.coefficient = Coefficient::variable;
    expect_equal_to_reference<double>(options);
    expect_equal_to_reference<float>(options);
    options.geometry = Geometry::cartesian;
    expect_equal_to_reference<double>(options);
    options.coefficient = Coefficient::constant;
    expect_equal_to_reference<double>(options);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, CellCounts,
    ::testing::Values(std::tuple{2, IndexTriple{1, 1, 1}}, std::tuple{2, IndexTriple{1, 7, 1}},
                      std::tuple{2, IndexTriple{7, 1, 1}}, std::tuple{2, IndexTriple{16, 2, 1}},
                      std::tuple{2, IndexTriple{33, 2, 1}}, std::tuple{3, IndexTriple{1, 1, 1}},
                      std::tuple{3, IndexTriple{1, 1, 5}}, std::tuple{3, IndexTriple{1, 5, 1}},
                      std::tuple{3, IndexTriple{5, 1, 1}}, std::tuple{3, IndexTriple{8, 1, 2}},
                      std::tuple{3, IndexTriple{17, 2, 1}}));

class ThreadsAndBricks : public ::testing::TestWithParam<int> {};

TEST_P(ThreadsAndBricks, EqualsTheReferenceOnManyBricks) {
  const ThreadsInUse threads(GetParam());
  ProblemOptions options;
  options.degree = 1;
  options.cells = {35, 7, 6};
  expect_equal_to_reference<double>(options);
  options.geometry = Geometry::cartesian;
  options.coefficient = Coefficient::constant;
  expect_equal_to_reference<double>(options);
  options.dimension = 2;
  options.degree = 2;
  options.cells = {70, 37, 1};
  expect_equal_to_reference<double>(options);
}

TEST_P(ThreadsAndBricks, EqualsTheReferenceWithDirichletOnAllFaces) {
  const ThreadsInUse threads(GetParam());
  ProblemOptions options;
  options.boundary = Boundary::dirichlet;
  options.cells = {9, 3, 3};
  expect_equal_to_reference<double>(options);
  options.dimension = 2;
  options.degree = 3;
  expect_equal_to_reference<double>(options);
  // No free node at all.
  options.degree = 1;
  options.cells = {1, 1, 1};
  expect_equal_to_reference<double>(options);
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadsAndBricks, ::testing::Values(1, 2, 3));

// For all strategies but kronecker, at degree 1 with every geometry, and for all.
std::vector<ProblemOptions> for_every_strategy(const IndexTriple& cells) {
  ProblemOptions curved;
  curved.cells = cells;
  ProblemOptions trilinear = curved;
  trilinear.degree = 1;
  ProblemOptions cartesian = curved;
  cartesian.geometry = Geometry::cartesian;
  cartesian.coefficient = Coefficient::constant;
  return {curved, trilinear, cartesian};
}

// The threads that apply need not be the threads that made it.
TEST(Threads, MayChangeBetweenMakingAndApplying) {
  for (const ProblemOptions& options : for_every_strategy({9, 3, 3})) {
    const Problem problem = make_problem(options);
    const Reference reference(problem.form);
    const std::vector<double> input = random_values(problem.size(), 3);
    const std::vector<double> expected = reference.apply(input);
    const HostVector<double> x = vector_of<double>(input);
    for (const auto& [made_with, applied_with] : {std::pair{1, 3}, {3, 1}, {2, 3}}) {
      for (const StrategyName& variant : host_variants(problem.form)) {
        std::unique_ptr<LinearOperator<double, Host>> a;
        {
          const ThreadsInUse threads(made_with);
          a = make_operator<double>(variant, problem.form);
        }
        const ThreadsInUse threads(applied_with);
        HostVector<double> y = poisoned<double>(problem.size());
        a->apply(x, y);
        EXPECT_LT(relative_difference(y, expected), kDoubleTolerance)
            << variant.text() << " made with " << made_with << " threads";
      }
    }
  }
}

// Entries of x at Dirichlet nodes reach y only there: even a NaN does not spread, nor a huge value
// from kronecker, which multiplies them by 0.
TEST(Constraints, DoNotReadDirichletEntriesInFreeRows) {
  for (const ProblemOptions& options : for_every_strategy({9, 2, 2})) {
    const Problem problem = make_problem(options);
    const Reference reference(problem.form);
    const std::vector<double> input = random_values(problem.size(), 5);
    const std::vector<double> expected = reference.apply(input);
    for (const StrategyName& variant : host_variants(problem.form)) {
      SCOPED_TRACE(variant.text());
      const bool multiplies = variant.kernel == "kronecker" || variant.kernel == "stencil";
      HostVector<double> x = vector_of<double>(input);
      for (Index i = 0; i < problem.size(); ++i) {
        if (!reference.is_constrained(i)) continue;
        x[i] = multiplies ? 1e200 : std::numeric_limits<double>::quiet_NaN();
      }
      HostVector<double> y(problem.size());
      make_operator<double>(variant, problem.form)->apply(x, y);
      for (Index i = 0; i < problem.size(); ++i) {
        if (!reference.is_constrained(i)) {
          EXPECT_NEAR(y[i], expected[i], 1e-11) << "node " << i;
        } else if (multiplies) {
          EXPECT_EQ(y[i], x[i]) << "node " << i;
        } else {
          EXPECT_TRUE(std::isnan(y[i])) << "node " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::testing
