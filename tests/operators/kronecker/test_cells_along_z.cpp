// These tests check what the kernels of the GPU are told of the cells, and of their matrices along
// z.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "operators/kronecker/factors/cells_along_z.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {
namespace {

constexpr int kDigits = std::numeric_limits<double>::digits;
constexpr IndexTriple kCells = {3, 2, 4};

ScalarField along_z(double (*value)(double)) {
  return varying_along(2, field_of([value](double, double, double z) { return value(z); }));
}

struct Case {
  const char* what;
  std::array<GridLines, 3> lines;
  ScalarField coefficient;
  KroneckerCells cells;
};
std::vector<Case> cases() {
  const GridLines wider = {0.0, 0.05, 0.2, 0.5, 1.0};
  return {
      {"uniform", {}, constant_field(2.0), KroneckerCells::alike},
      {"widths along z", {{{}, {}, wider}}, constant_field(2.0), KroneckerCells::multiples_along_z},
      // Every cell has e^h times the matrices of the one below, which are not symmetric.
      {"k = exp(z)",
       {},
       along_z([](double z) { return std::exp(z); }),
       KroneckerCells::alike_along_xy},
      {"k = 1 + z^2",
       {},
       along_z([](double z) { return 1.0 + z * z; }),
       KroneckerCells::alike_along_xy},
      {"widths along x",
       {{{0.0, 0.1, 0.4, 1.0}, {}, {}}},
       constant_field(2.0),
       KroneckerCells::different},
      {"widths along y and z",
       {{{}, {0.0, 0.3, 1.0}, wider}},
       constant_field(2.0),
       KroneckerCells::different}};
}

TEST(CellsAlongZ, HaveTheMatricesOfTheFactors) {
  constexpr double kScale = 1.5;
  for (const Case& c : cases()) {
    for (const int p : {1, 2, 3, 4}) {
      SCOPED_TRACE(std::string(c.what) + ", p = " + std::to_string(p));
      const Discretization discretization = make_discretization(
          BoxMesh(3, kCells, {0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}, c.lines),
          make_basis(p, NodeFamily::gauss_lobatto, QuadratureRule::gauss, p + 1));
      const KroneckerFactors factors =
          make_kronecker_factors({&discretization, c.coefficient, {}, {}});
      const KroneckerCells cells = kronecker_cells(factors);
      ASSERT_EQ(cells, c.cells);
      const AxisFactors& axis = factors.axes[2];
      const CellsAlongZ z = cells_along_z(axis, cells, kDigits, kScale);
      const std::size_t size = static_cast<std::size_t>(p + 1) * (p + 1);
      ASSERT_EQ(z.rows.size(), kCells[2] * size);
      ASSERT_EQ(z.unit.empty(), has_table_along_z(cells));
      for (Index cell = 0; cell < kCells[2]; ++cell) {
        const std::size_t first = axis.kind == AxisCells::alike ? 0 : cell * size;
        for (std::size_t e = 0; e < size; ++e) {
          EntryPair<double> entry;
          if (has_table_along_z(cells)) {
            entry = z.rows[cell * size + e];
          } else {
            entry = z.unit[e];
            if (cells == KroneckerCells::multiples_along_z) {
              entry.mass *= z.rows[cell].mass;
              entry.stiffness *= z.rows[cell].stiffness;
            }
          }
          const double mass = kScale * axis.cell_mass[first + e];
          const double stiffness = kScale * axis.cell_stiffness[first + e];
          EXPECT_NEAR(entry.mass, mass, 1e-13 * std::abs(kScale * axis.cell_mass[first]));
          EXPECT_NEAR(entry.stiffness, stiffness,
                      1e-13 * std::abs(kScale * axis.cell_stiffness[first]));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::testing
