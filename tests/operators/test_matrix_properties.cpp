// These tests look at symmetry, definiteness and diagonal of every strategy's matrix.
#include <gtest/gtest.h>

#include <cmath>

#include "operators/strategy.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/suitable.hpp"

namespace tessera::testing {
namespace {

class MatrixProperties : public ::testing::TestWithParam<StrategyName> {
 protected:
  // Where a kernel is not for a problem, others must do.
  static bool is_for_constants() { return GetParam().kernel == "kronecker"; }

  // Calls check(problem, operator) on problems of both dimensions and geometries.
  template <class F>
  void for_each_problem(Boundary boundary, F&& check) const {
    for (const int dimension : {2, 3}) {
      for (const Geometry geometry : {Geometry::cartesian, Geometry::curved, Geometry::graded}) {
        for (const int degree : {1, 2, 5}) {
          ProblemOptions options;
          options.dimension = dimension;
          options.geometry = geometry;
          options.coefficient =
              degree == 2 || is_for_constants() ? Coefficient::constant : Coefficient::variable;
          options.degree = degree;
          options.cells = {9, 3, 2};
          options.boundary = boundary;
          SCOPED_TRACE(describe(options));
          const Problem problem = make_problem(options);
          for (const StrategyName& variant : variants({GetParam()}, problem.form)) {
            SCOPED_TRACE(variant.text());
            check(problem, variant, *make_operator<double>(variant, problem.form));
          }
        }
      }
    }
  }
};

using Operator = LinearOperator<double, Host>;

TEST_P(MatrixProperties, IsSymmetric) {
  for_each_problem(
      Boundary::mixed, [](const Problem& problem, const StrategyName&, const Operator& a) {
        const HostVector<double> x = vector_of<double>(random_values(problem.size(), 1));
        const HostVector<double> y = vector_of<double>(random_values(problem.size(), 2));
        HostVector<double> ax = poisoned<double>(problem.size());
        HostVector<double> ay = poisoned<double>(problem.size());
        a.apply(x, ax);
        a.apply(y, ay);
        EXPECT_LE(std::abs(dot(x, ay) - dot(y, ax)), 1e-12 * norm(x) * norm(ay));
      });
}

TEST_P(MatrixProperties, IsPositiveDefiniteWithADirichletFace) {
  for_each_problem(
      Boundary::mixed, [](const Problem& problem, const StrategyName&, const Operator& a) {
        for (const unsigned seed : {1u, 2u, 3u}) {
          const HostVector<double> x = vector_of<double>(random_values(problem.size(), seed));
          HostVector<double> ax = poisoned<double>(problem.size());
          a.apply(x, ax);
          EXPECT_GT(dot(x, ax), 0.0);
        }
        HostVector<double> ones(problem.size());
        fill(ones, 1.0);
        HostVector<double> a_ones = poisoned<double>(problem.size());
        a.apply(ones, a_ones);
        EXPECT_GT(dot(ones, a_ones), 0.0);
      });
}

TEST_P(MatrixProperties, MapsConstantsToZeroWithoutDirichletAndRobinFaces) {
  for_each_problem(Boundary::none,
                   [](const Problem& problem, const StrategyName&, const Operator& a) {
                     HostVector<double> ones(problem.size());
                     fill(ones, 1.0);
                     HostVector<double> y = poisoned<double>(problem.size());
                     a.apply(ones, y);
                     HostVector<double> diagonal = poisoned<double>(problem.size());
                     a.diagonal(diagonal);
                     for (Index i = 0; i < problem.size(); ++i) {
                       ASSERT_LE(std::abs(y[i]), 1e-12 * diagonal[i]) << "node " << i;
                     }
                   });
}

TEST_P(MatrixProperties, HasPositiveDiagonal) {
  for_each_problem(Boundary::mixed,
                   [](const Problem& problem, const StrategyName&, const Operator& a) {
                     HostVector<double> d = poisoned<double>(problem.size());
                     a.diagonal(d);
                     for (Index i = 0; i < problem.size(); ++i)
                       ASSERT_GT(d[i], 0.0) << "node " << i;
                   });
}

TEST_P(MatrixProperties, DiagonalIsThatOfTheAppliedMatrix) {
  ProblemOptions options;
  options.cells = {2, 2, 1};
  if (GetParam().kernel == "stencil") options.degree = 1;
  if (is_for_constants()) {
    options.geometry = Geometry::cartesian;
    options.coefficient = Coefficient::constant;
  }
  const Problem problem = make_problem(options);
  const auto a = make_operator<double>(GetParam(), problem.form);
  HostVector<double> d = poisoned<double>(problem.size());
  a->diagonal(d);
  for (Index i = 0; i < problem.size(); ++i) {
    HostVector<double> unit(problem.size());
    unit[i] = 1.0;
    HostVector<double> column = poisoned<double>(problem.size());
    a->apply(unit, column);
    ASSERT_NEAR(column[i], d[i], 1e-12 * d[i]) << "node " << i;
  }
}

TEST_P(MatrixProperties, CostCountsAtLeastTheTwoVectorsAndWhatTheOperatorHolds) {
  for_each_problem(
      Boundary::mixed, [](const Problem& problem, const StrategyName& strategy, const Operator& a) {
        const double vectors = 2.0 * sizeof(double) * static_cast<double>(problem.size());
        const bool reads_positions = strategy.factors == FactorStorage::on_the_fly;
        const auto positions = static_cast<double>(
            reads_positions ? problem.form.discretization->mapping.bytes() : Index{0});
        EXPECT_GE(a.cost().bytes, vectors + positions);
        EXPECT_LE(a.cost().bytes, vectors + positions + static_cast<double>(a.bytes()));
        EXPECT_GT(a.cost().flops, static_cast<double>(problem.size()));
      });
}

INSTANTIATE_TEST_SUITE_P(Strategies, MatrixProperties, ::testing::ValuesIn(all_strategies()),
                         [](const ::testing::TestParamInfo<StrategyName>& tested) {
                           return tested.param.kernel + "_" + tested.param.scatter;
                         });

}  // namespace
}  // namespace tessera::testing
