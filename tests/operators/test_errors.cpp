// These tests give forms bad data and read the errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "mesh/errors.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/strategy.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/suitable.hpp"

namespace tessera::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A map of the box [0, cells] that runs backwards in x where x > column and the last tangential
// coordinate is above `row`: cells from (column, ..., row) on are inverted.
struct FoldedProblem {
  std::unique_ptr<const Discretization> discretization;
  BilinearForm form;
};

FoldedProblem folded_problem(int dimension, const IndexTriple& cells, double column, double row) {
  const Point upper = {static_cast<double>(cells[0]), static_cast<double>(cells[1]),
                       static_cast<double>(cells[2])};
  const BoxMesh mesh(dimension, cells, {0, 0, 0}, upper);
  const auto x_component = [=](double x, double y, double z) {
    const double height = dimension == 3 ? z : y;
    return x > column && height > row ? column - 3.0 * (x - column) : x;
  };
  FoldedProblem problem;
  problem.discretization = std::make_unique<const Discretization>(make_mapped_discretization(
      mesh, make_basis(1, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 2),
      {field_of(x_component), field_of([](double, double y, double) { return y; }),
       field_of([](double, double, double z) { return z; })}));
  problem.form = {problem.discretization.get(), constant_field(1.0), {}, {}};
  return problem;
}

TEST(InvertedCells, TheFirstOneIsNamedForAnyNumberOfThreads) {
  // Nodes above row 2 are folded; a cell with only its upper nodes folded is inverted near them.
  const FoldedProblem two = folded_problem(2, {41, 9, 1}, 6.0, 2.5);
  const FoldedProblem three = folded_problem(3, {21, 5, 9}, 4.0, 3.5);
  for (const int threads : {1, 2, 3}) {
    const ThreadsInUse count(threads);
    for (const StrategyName& variant : host_variants(two.form)) {
      try {
        make_operator<double>(variant, two.form);
        FAIL() << variant.text() << " accepted an inverted cell";
      } catch (const InvertedCell& error) {
        EXPECT_EQ(error.cell(), (IndexTriple{6, 2, 0})) << variant.text();
        EXPECT_NE(std::string(error.what()).find("cell (6, 2)"), std::string::npos) << error.what();
      }
    }
    for (const StrategyName& variant : host_variants(three.form)) {
      try {
        make_operator<float>(variant, three.form);
        FAIL() << variant.text() << " accepted an inverted cell";
      } catch (const InvertedCell& error) {
        EXPECT_EQ(error.cell(), (IndexTriple{4, 0, 3})) << variant.text();
      }
    }
  }
}

TEST(InvertedCells, AFlatCellIsRefused) {
  const BoxMesh mesh(2, {3, 2, 1}, {0, 0, 0}, {1, 1, 1});
  const Discretization flat = make_mapped_discretization(
      mesh, make_basis(2, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 3),
      {constant_field(0.5), field_of([](double, double y, double) { return y; }), {}});
  EXPECT_THROW(make_operator<double>({"tensor", "serial"}, {&flat, constant_field(1.0), {}, {}}),
               InvertedCell);
}

TEST(BadCoefficients, AreRefusedWhereTheyAreNotPositiveAndFinite) {
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved, Geometry::graded}) {
    for (const double bad : {0.0, -2.0, kNan, kInfinity}) {
      ProblemOptions options;
      options.geometry = geometry;
      options.cells = {9, 3, 2};
      Problem problem = make_problem(options);
      for (const bool constant : {true, false}) {
        problem.form.coefficient =
            constant ? constant_field(bad) : field_of([bad](double x, double y, double) {
              return x > 0.5 && y > 0.9 ? bad : 1.0;
            });
        for (const StrategyName& variant : host_variants(problem.form)) {
          try {
            make_operator<double>(variant, problem.form);
            FAIL() << variant.text() << " accepted the coefficient " << bad;
          } catch (const BadFieldValue& error) {
            if (std::isnan(bad)) {
              EXPECT_TRUE(std::isnan(error.value()));
            } else {
              EXPECT_EQ(error.value(), bad);
            }
            if (!constant) {
              EXPECT_GT(error.where()[0], 0.5);
              EXPECT_GT(error.where()[1], 0.9);
            }
          }
        }
      }
    }
  }
}

// A function of one coordinate that is `inside` above a value of it, else `outside`.
ScalarField step(int d, double above, double inside, double outside) {
  return field_of([=](double x, double y, double z) {
    return Point{x, y, z}[d] > above ? inside : outside;
  });
}

// f_x f_y f_z with its factors.
ScalarField product_of(const std::array<ScalarField, 3>& factors) {
  return {[factors](const PointBlock& points, double* values) {
            std::vector<double> factor(points.n);
            std::fill_n(values, points.n, 1.0);
            for (int d = 0; d < 3; ++d) {
              factors[d].evaluate(points, factor.data());
              for (std::size_t i = 0; i < points.n; ++i) values[i] *= factor[i];
            }
          },
          std::nullopt, std::make_shared<const std::array<ScalarField, 3>>(factors)};
}

TEST(BadCoefficients, ThatAreProductsAreRefusedAtAPointWhereTheyAreBad) {
  ProblemOptions options;
  options.geometry = Geometry::cartesian;
  options.cells = {9, 3, 2};
  Problem problem = make_problem(options);
  const ScalarField two = constant_field(2.0);
  for (const double bad : {0.0, -2.0, kNan, kInfinity}) {
    const std::vector<std::array<ScalarField, 3>> products = {
        {step(0, 0.5, bad, 1.0), two, two},
        {constant_field(-1.0), step(1, 0.9, -bad, -1.0), two},
        {step(0, 0.0, 2.0, 1.0), two, step(2, 1.2, 1.0, bad)},
        {two, step(1, 0.9, 1.0, 3.0), constant_field(bad)}};
    for (const auto& factors : products) {
      problem.form.coefficient = product_of(factors);
      for (const StrategyName& variant : host_variants(problem.form)) {
        try {
          make_operator<double>(variant, problem.form);
          FAIL() << variant.text() << " accepted a coefficient that is " << bad << " somewhere";
        } catch (const BadFieldValue& error) {
          const Point& at = error.where();
          double value = 1.0;
          problem.form.coefficient.evaluate({1, at.data(), &at[1], &at[2]}, &value);
          EXPECT_FALSE(value > 0.0 && std::isfinite(value)) << variant.text();
          EXPECT_TRUE(std::isnan(value) || error.value() == value) << variant.text();
        }
      }
    }
  }
  // Signs that cancel are none of anyone's business.
  problem.form.coefficient =
      product_of({constant_field(-1.0), step(1, 0.9, -2.0, -1.0), step(2, 1.2, 1.0, 3.0)});
  for (const StrategyName& variant : host_variants(problem.form)) {
    EXPECT_NO_THROW(make_operator<double>(variant, problem.form)) << variant.text();
  }
}

TEST(BadAlphas, AreRefusedWhereNegativeOrNotFinite) {
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
    for (const double bad : {-1.0, kNan, kInfinity}) {
      ProblemOptions options;
      options.geometry = geometry;
      options.coefficient = Coefficient::constant;
      Problem problem = make_problem(options);
      problem.form.robin[0].alpha = step(1, 0.8, bad, 1.0);
      for (const StrategyName& variant : host_variants(problem.form)) {
        try {
          make_operator<double>(variant, problem.form);
          FAIL() << variant.text() << " accepted alpha = " << bad;
        } catch (const BadFieldValue& error) {
          EXPECT_GT(error.where()[1], 0.8) << variant.text();
        }
      }
      problem.form.robin[0].alpha = constant_field(bad);
      for (const StrategyName& variant : host_variants(problem.form)) {
        EXPECT_THROW(make_operator<double>(variant, problem.form), BadFieldValue) << variant.text();
      }
    }
  }
}

TEST(FieldErrors, AnExceptionOfTheCoefficientReachesTheCaller) {
  Problem problem = make_problem({});
  problem.form.coefficient = {
      [](const PointBlock&, double*) { throw std::domain_error("a field's own error"); },
      std::nullopt};
  for (const int threads : {1, 3}) {
    const ThreadsInUse count(threads);
    for (const StrategyName& variant : host_variants(problem.form)) {
      EXPECT_THROW(make_operator<double>(variant, problem.form), std::domain_error)
          << variant.text();
    }
  }
}

TEST(StrategyNames, UnknownOnesAndWrongCombinationsAreRefused) {
  const Problem problem = make_problem({});
  for (const StrategyName& strategy :
       {StrategyName{"", "none"}, StrategyName{"dense", "serial"}, StrategyName{"csr", "serial"},
        StrategyName{"tensor", "none"}, StrategyName{"local", "lock"},
        StrategyName{"tensor", ""}}) {
    EXPECT_THROW(make_operator<double>(strategy, problem.form), std::invalid_argument)
        << strategy.text();
    EXPECT_THROW(make_operator<float>(strategy, problem.form), std::invalid_argument)
        << strategy.text();
  }
}

TEST(StrategyNames, ThoseOfTheGpuAloneAreRefused) {
  const Problem problem = make_problem({});
  for (const StrategyName& strategy :
       {StrategyName{"tensor", "patch"}, StrategyName{"local-thread", "atomic"},
        StrategyName{"tensor", "unprotected"}}) {
    EXPECT_THROW(make_operator<double>(strategy, problem.form), std::invalid_argument)
        << strategy.text();
  }
}

TEST(StrategyNames, ThoseThatAreNotForAFormSayWhyAndAreRefused) {
  ProblemOptions options;
  options.coefficient = Coefficient::constant;
  EXPECT_EQ(why_unsuitable({"kronecker"}, shape_on(make_problem(options).form)),
            "the kernel kronecker needs an axis-aligned mesh, and this one is mapped");
  options.geometry = Geometry::cartesian;
  // All but stencil, which is for degree 1.
  EXPECT_EQ(suitable_strategies(make_problem(options).form).size(), all_strategies().size() - 1);
  options.coefficient = Coefficient::variable;
  EXPECT_NE(why_unsuitable({"kronecker"}, shape_on(make_problem(options).form)).find("coefficient"),
            std::string::npos);
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
    options.geometry = geometry;
    const Problem problem = make_problem(options);
    for (const StrategyName& strategy : all_strategies()) {
      EXPECT_EQ(why_unsuitable(strategy, shape_on(problem.form)).empty(),
                strategy.kernel != "kronecker" && strategy.kernel != "stencil");
    }
    EXPECT_THROW(make_operator<double>({"kronecker", "none"}, problem.form), std::invalid_argument);
    EXPECT_THROW(make_operator<float>({"kronecker", "none"}, problem.form), std::invalid_argument);
  }
}

TEST(StrategyNames, TableAndListAgree) {
  std::size_t expected = 0;
  for (const KernelInfo& kernel : kernel_table()) {
    ASSERT_NE(find_kernel(kernel.name), nullptr);
    EXPECT_EQ(find_kernel(kernel.name)->name, kernel.name);
    if (!kernel.runs_on(Processor::cpu)) continue;
    if (kernel.scatter == TakesScatter::no) {
      ++expected;
      continue;
    }
    for (const ScatterInfo& scatter : scatter_table())
      expected += scatter.runs_on(Processor::cpu) ? 1 : 0;
  }
  EXPECT_EQ(all_strategies().size(), expected);
  EXPECT_EQ(find_kernel("tensors"), nullptr);
  EXPECT_EQ((StrategyName{"tensor", "coloring"}).text(), "tensor/coloring");
  EXPECT_EQ((StrategyName{"csr", "none"}).text(), "csr");
}

}  // namespace
}  // namespace tessera::testing
