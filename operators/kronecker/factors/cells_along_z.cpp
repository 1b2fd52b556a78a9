// This file finds out how cells differ, and makes the tables of the z axis.
#include "operators/kronecker/factors/cells_along_z.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "operators/kronecker/factors/stiffness_rounding.hpp"

namespace tessera {
namespace {

// Of a cell's largest entry: what rounding leaves where cells differ in nothing but a factor.
constexpr double kRounding = 1e-14;

// The factor of the first cell's matrix that a cell's is, if it is one up to rounding.
std::optional<double> multiple_of_first(const std::vector<double>& cells, std::size_t size,
                                        std::size_t cell) {
  const auto at = std::max_element(cells.begin(), cells.begin() + size) - cells.begin();
  const double largest = cells[at];
  if (largest == 0.0) return 1.0;
  const double factor = cells[cell * size + at] / largest;
  for (std::size_t e = 0; e < size; ++e) {
    const double difference = cells[cell * size + e] - factor * cells[e];
    if (std::abs(difference) > kRounding * factor * largest) return std::nullopt;
  }
  return factor;
}

// Whether the first cell's matrix is its own mirror image, up to rounding.
bool is_own_mirror(const std::vector<double>& cells, std::size_t size) {
  const double largest = *std::max_element(cells.begin(), cells.begin() + size);
  for (std::size_t e = 0; e < size; ++e) {
    if (std::abs(cells[e] - cells[size - 1 - e]) > kRounding * largest) return false;
  }
  return true;
}

std::size_t entries_of_cell(const AxisFactors& axis) {
  return static_cast<std::size_t>(axis.degree + 1) * (axis.degree + 1);
}

// Mass and stiffness of the axis's cells as multiples of the first cell's, which are symmetric
// under reversal; nothing if they are not.
std::vector<EntryPair<double>> multiples_of_first(const AxisFactors& axis) {
  const std::size_t size = entries_of_cell(axis);
  if (!is_own_mirror(axis.cell_mass, size) || !is_own_mirror(axis.cell_stiffness, size)) return {};
  std::vector<EntryPair<double>> multiples(axis.cells);
  for (std::size_t c = 0; c < multiples.size(); ++c) {
    const std::optional<double> mass = multiple_of_first(axis.cell_mass, size, c);
    const std::optional<double> stiffness = multiple_of_first(axis.cell_stiffness, size, c);
    if (!mass || !stiffness) return {};
    multiples[c] = {*mass, *stiffness};
  }
  return multiples;
}

}  // namespace

KroneckerCells kronecker_cells(const KroneckerFactors& factors) {
  const auto are_alike = [&](int d) { return factors.axes[d].kind == AxisCells::alike; };
  if (factors.axes[0].degree > kMaxFastDegree || !are_alike(0) || !are_alike(1)) {
    return KroneckerCells::different;
  }
  if (factors.dimension == 2 || are_alike(2)) return KroneckerCells::alike;
  return multiples_of_first(factors.axes[2]).empty() ? KroneckerCells::alike_along_xy
                                                     : KroneckerCells::multiples_along_z;
}

CellsAlongZ cells_along_z(const AxisFactors& axis, KroneckerCells cells, int digits, double scale) {
  const std::size_t size = entries_of_cell(axis);
  const std::vector<double> stiffness = rounded_cell_stiffness(axis, digits);
  const auto matrix_of = [&](Index c) {
    const std::size_t first = axis.kind == AxisCells::alike ? 0 : c * size;
    std::vector<EntryPair<double>> entries(size);
    for (std::size_t e = 0; e < size; ++e) {
      entries[e] = {scale * axis.cell_mass[first + e], scale * stiffness[first + e]};
    }
    return entries;
  };
  CellsAlongZ z;
  if (has_table_along_z(cells)) {
    for (Index c = 0; c < axis.cells; ++c) {
      const std::vector<EntryPair<double>> matrix = matrix_of(c);
      z.rows.insert(z.rows.end(), matrix.begin(), matrix.end());
    }
  } else {
    z.unit = matrix_of(0);
    if (cells == KroneckerCells::multiples_along_z) z.rows = multiples_of_first(axis);
    z.rows.resize(axis.cells * size);
  }
  return z;
}

}  // namespace tessera
