// This file rounds stiffness matrices such that rows that sum to zero still do.
#include "operators/kronecker/factors/stiffness_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera {
namespace {

// So coarse that twice the largest number, and half of a multiple, has no more digits.
double grid(double largest, int digits) {
  return largest > 0.0 ? std::ldexp(1.0, std::ilogb(largest) + 2 - digits) : 0.0;
}

double on_grid(double value, double grid) {
  return grid > 0.0 ? grid * std::nearbyint(value / grid) : value;
}

// One row of the assembled matrix: its entries, and which of them is on the diagonal.
struct Row {
  double* entries;
  int count;
  int diagonal;
};

Row row_of(std::vector<double>& rows, Index node, int p) {
  double* block = rows.data() + node / p * p * (p + 2);
  const auto i = static_cast<int>(node % p);
  return i == 0 ? Row{block, 2 * p + 1, p} : Row{block + 2 * p + 1 + (i - 1) * (p + 1), p + 1, i};
}

// What the grid of a cell has to have digits for: its entries and the diagonals of its vertices,
// but not those to which a cell beside it adds so much more that its own entries would lose theirs.
std::vector<double> largest_of_cells(std::vector<double>& rows, const AxisFactors& axis) {
  constexpr double kMaxBeside = 16.0;
  std::vector<double> own(static_cast<std::size_t>(axis.cells), 0.0);
  std::vector<double> at_vertices(static_cast<std::size_t>(axis.cells), 0.0);
  const auto take = [&](std::vector<double>& largest, Index cell, double value) {
    if (cell >= 0 && cell < axis.cells) largest[cell] = std::max(largest[cell], std::abs(value));
  };
  for (Index node = 0; node < axis.nodes(); ++node) {
    const Row row = row_of(rows, node, axis.degree);
    const Index cell = node / axis.degree;
    const bool is_vertex = node % axis.degree == 0;
    for (int j = 0; j < row.count; ++j) {
      if (is_vertex && j == row.diagonal) {
        take(at_vertices, cell - 1, row.entries[j]);
        take(at_vertices, cell, row.entries[j]);
      } else {
        take(own, is_vertex && j < row.diagonal ? cell - 1 : cell, row.entries[j]);
      }
    }
  }
  for (std::size_t c = 0; c < own.size(); ++c) {
    own[c] = std::max(own[c], std::min(at_vertices[c], kMaxBeside * own[c]));
  }
  return own;
}

void round_row(const Row& row, double before, double after) {
  double others = 0.0;
  for (int j = 0; j < row.count; ++j) {
    if (j == row.diagonal) continue;
    row.entries[j] = on_grid(row.entries[j], j < row.diagonal ? before : after);
    others += row.entries[j];
  }
  row.entries[row.diagonal] = -others;
}

// The stiffness of one cell, [n][n].
void round_cell(const double* exact, int n, AxisCells kind, int digits, double* rounded) {
  const auto twice = [&](int i, int j) { return exact[i * n + j] + exact[j * n + i]; };
  double largest = 0.0;
  for (int e = 0; e < n * n; ++e) largest = std::max(largest, std::abs(exact[e]));
  const double multiple = grid(largest, digits);
  for (int i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int j = 0; j < n; ++j) {
      if (j == i) continue;
      const double value = twice(i, j);
      const double mirrored = kind == AxisCells::alike ? twice(n - 1 - i, n - 1 - j) : value;
      rounded[i * n + j] = on_grid(0.25 * (value + mirrored), multiple);
      sum += rounded[i * n + j];
    }
    rounded[i * n + i] = -sum;
  }
}

}  // namespace

std::vector<double> rounded_stiffness(const AxisFactors& axis, int digits) {
  std::vector<double> rows = assembled_without_ends(axis, axis.cell_stiffness);
  if (digits >= std::numeric_limits<double>::digits) return rows;
  const int p = axis.degree;
  const std::vector<double> largest = largest_of_cells(rows, axis);
  const auto grid_of = [&](Index cell) {
    return cell < 0 || cell >= axis.cells ? 0.0 : grid(largest[cell], digits);
  };
  for (Index node = 0; node < axis.nodes(); ++node) {
    const Index cell = node / p;
    const bool is_vertex = node % p == 0;
    double before = grid_of(is_vertex ? cell - 1 : cell);
    double after = grid_of(cell);
    if (before == 0.0) before = after;
    if (after == 0.0) after = before;
    round_row(row_of(rows, node, p), before, after);
  }
  return rows;
}

std::vector<double> rounded_cell_stiffness(const AxisFactors& axis, int digits) {
  std::vector<double> cells = axis.cell_stiffness;
  if (digits >= std::numeric_limits<double>::digits) return cells;
  const int n = axis.degree + 1;
  const auto square = static_cast<std::size_t>(n) * n;
  for (std::size_t first = 0; first < cells.size(); first += square) {
    round_cell(axis.cell_stiffness.data() + first, n, axis.kind, digits, cells.data() + first);
  }
  return cells;
}

}  // namespace tessera
