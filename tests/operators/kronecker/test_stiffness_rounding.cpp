// These tests check that rounded stiffness matrices keep their null space.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "operators/kronecker/factors/factors.hpp"
#include "operators/kronecker/factors/stiffness_rounding.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {
namespace {

constexpr int kFloatDigits = 24;

Discretization strip(int degree, Index cells, GridLines lines = {}) {
  return make_discretization(
      BoxMesh(2, {cells, 1, 1}, {0.0, 0.0, 0.0}, {0.7, 1.0, 0.0}, {std::move(lines), {}, {}}),
      make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, degree + 1));
}

ScalarField function_of_x(double (*value)(double)) {
  return varying_along(0, field_of([value](double x, double, double) { return value(x); }));
}

double largest(const std::vector<double>& values) {
  double result = 0.0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

// The sum of a node's row, in floats.
double row_sum(const std::vector<double>& rows, const AxisFactors& axis, Index node) {
  const int p = axis.degree;
  const double* row = rows.data() + node / p * axis.block_size();
  const bool is_vertex = node % p == 0;
  if (!is_vertex) row += 2 * p + 1 + (node % p - 1) * (p + 1);
  double sum = 0.0;
  for (int j = 0; j < (is_vertex ? 2 * p + 1 : p + 1); ++j) {
    sum += static_cast<double>(static_cast<float>(row[j]));
  }
  return sum;
}

void expect_constants_in_null_space(const Discretization& discretization, const ScalarField& k,
                                    double alpha) {
  BilinearForm form{&discretization, k, {}, {}};
  if (alpha > 0.0) form.robin.push_back({1, constant_field(alpha)});
  const KroneckerFactors factors = make_kronecker_factors(form);
  const AxisFactors& axis = factors.axes[0];
  const std::vector<double> rows = rounded_stiffness(axis, kFloatDigits);
  for (Index node = 0; node < axis.nodes(); ++node) EXPECT_EQ(row_sum(rows, axis, node), 0.0);
  const double scale = largest(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(static_cast<double>(static_cast<float>(rows[i])), rows[i]);
    EXPECT_NEAR(rows[i], axis.stiffness[i], 1e-6 * scale + alpha);
  }
  // Nothing is rounded where there are digits enough.
  if (alpha == 0.0) {
    EXPECT_EQ(rounded_stiffness(axis, 53), axis.stiffness);
  }
}

TEST(StiffnessRounding, LeavesConstantsInTheNullSpace) {
  for (int p = 1; p <= 9; ++p) {
    SCOPED_TRACE(p);
    expect_constants_in_null_space(strip(p, 7), constant_field(0.3), 0.0);
    expect_constants_in_null_space(strip(p, 7), constant_field(0.3), 1e-9);
    expect_constants_in_null_space(strip(p, 4, {0.0, 0.05, 0.2, 0.4, 0.7}), constant_field(3.0),
                                   1e-3);
    expect_constants_in_null_space(strip(p, 9), function_of_x([](double x) { return 1.0 + x * x; }),
                                   0.0);
  }
}

TEST(StiffnessRounding, LeavesConstantsInTheNullSpaceOfACell) {
  for (int p = 1; p <= 9; ++p) {
    const Discretization discretization = strip(p, 3);
    const KroneckerFactors factors =
        make_kronecker_factors({&discretization, constant_field(0.3), {}, {}});
    const std::vector<double> cell = rounded_cell_stiffness(factors.axes[0], kFloatDigits);
    const int n = p + 1;
    for (int i = 0; i < n; ++i) {
      double sum = 0.0;
      for (int j = 0; j < n; ++j) {
        const double value = cell[i * n + j];
        sum += value;
        EXPECT_EQ(static_cast<double>(static_cast<float>(value)), value);
        EXPECT_EQ(value, cell[j * n + i]);
        EXPECT_EQ(value, cell[(p - i) * n + p - j]);
        // As the host keeps it: sums and differences of entries, halved.
        const double half = 0.5 * (value + cell[i * n + p - j]);
        EXPECT_EQ(static_cast<double>(static_cast<float>(half)), half);
      }
      EXPECT_EQ(sum, 0.0);
    }
  }
}

// Cells that differ are rounded one by one.
TEST(StiffnessRounding, LeavesConstantsInTheNullSpaceOfEachCell) {
  for (int p = 1; p <= 9; ++p) {
    const Discretization discretization = strip(p, 4, {0.0, 0.05, 0.2, 0.4, 0.7});
    const ScalarField k = function_of_x([](double x) { return 1.0 + x * x; });
    BilinearForm form{&discretization, k, {}, {}};
    form.dirichlet.set(static_cast<int>(Face::left));
    const KroneckerFactors factors = make_kronecker_factors(form);
    const AxisFactors& axis = factors.axes[0];
    const std::vector<double> cells = rounded_cell_stiffness(axis, kFloatDigits);
    const int n = p + 1;
    ASSERT_EQ(cells.size(), static_cast<std::size_t>(4 * n * n));
    ASSERT_EQ(axis.cell_stiffness.size(), cells.size());
    const double scale = largest(axis.cell_stiffness);
    for (int c = 0; c < 4; ++c) {
      const double* cell = cells.data() + c * n * n;
      for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j) {
          const double value = cell[i * n + j];
          sum += value;
          EXPECT_EQ(static_cast<double>(static_cast<float>(value)), value);
          EXPECT_EQ(value, cell[j * n + i]);
          EXPECT_NEAR(value, axis.cell_stiffness[(c * n + i) * n + j], 1e-6 * scale);
        }
        EXPECT_EQ(sum, 0.0);
      }
    }
    EXPECT_EQ(rounded_cell_stiffness(axis, 53), axis.cell_stiffness);
  }
}

// A cell beside one whose entries are a billion times as large keeps its own digits.
TEST(StiffnessRounding, KeepsTheDigitsOfSmallNeighbors) {
  for (int p = 1; p <= 4; ++p) {
    SCOPED_TRACE(p);
    const Discretization discretization = strip(p, 7);
    const ScalarField k = function_of_x([](double x) { return x < 0.3 ? 1.0 : 1e9; });
    const KroneckerFactors factors = make_kronecker_factors({&discretization, k, {}, {}});
    const AxisFactors& axis = factors.axes[0];
    const std::vector<double> rows = rounded_stiffness(axis, kFloatDigits);
    // Row p is the vertex between cells 2 and 3; what couples it to the cell before.
    const std::size_t vertex = 3 * axis.block_size();
    for (int j = 0; j < p; ++j) {
      const double exact = axis.stiffness[vertex + j];
      EXPECT_NEAR(rows[vertex + j], exact, 3e-6 * std::abs(largest(axis.cell_stiffness)));
      EXPECT_NE(rows[vertex + j], 0.0);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
