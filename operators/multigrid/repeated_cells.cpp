// This file recognizes prolongations whose cells are all alike.
#include "operators/multigrid/repeated_cells.hpp"

#include <algorithm>

namespace tessera {
namespace {

double entry_at(const AxisMatrix& matrix, Index row, Index column) {
  const Index k = column - matrix.first[row];
  return k >= 0 && k < matrix.width ? matrix.entries[row * matrix.width + k] : 0.0;
}

// The matrix of a cell in the middle, where no column is masked if there are three cells.
std::vector<double> matrix_of_cell(const AxisMatrix& matrix, int p) {
  const Index cell = (matrix.columns - 1) / p / 2;
  std::vector<double> entries;
  for (int r = 0; r < 2 * p; ++r) {
    const int node = coarser_node(p, r);
    for (int k = 0; k <= p; ++k) {
      const double at_node = k == node ? 1.0 : 0.0;
      entries.push_back(node >= 0 ? at_node : entry_at(matrix, cell * 2 * p + r, cell * p + k));
    }
  }
  return entries;
}

bool is_zero_column(const AxisMatrix& matrix, Index column) {
  for (Index r = 0; r < matrix.rows; ++r) {
    if (entry_at(matrix, r, column) != 0.0) return false;
  }
  return true;
}

// Whether the matrix has these entries in all cells but for masked columns, and no others.
bool repeats(const AxisMatrix& matrix, int p, const std::vector<double>& entries,
             bool is_first_masked, bool is_last_masked) {
  const Index last_column = matrix.columns - 1;
  for (Index row = 0; row < matrix.rows; ++row) {
    const Index cell = row / (2 * p);
    const double* const row_of_cell = &entries[(row - cell * 2 * p) * (p + 1)];
    const Index begin = std::min(matrix.first[row], cell * p);
    const Index end = std::max(matrix.first[row] + matrix.width, cell * p + p + 1);
    for (Index column = begin; column < std::min(end, matrix.columns); ++column) {
      const Index k = column - cell * p;
      const bool is_masked =
          (column == 0 && is_first_masked) || (column == last_column && is_last_masked);
      const double expected = k >= 0 && k <= p && !is_masked ? row_of_cell[k] : 0.0;
      if (entry_at(matrix, row, column) != expected) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<RepeatedCells> repeated_cells(const std::array<AxisMatrix, 3>& axes) {
  for (int p = 1; p <= kMaxRepeatedDegree; ++p) {
    RepeatedCells result{p, {}, {}, {}};
    const auto is_of_cells = [&](const AxisMatrix& matrix) {
      return (matrix.columns - 1) % p == 0 && matrix.rows - 1 == 2 * (matrix.columns - 1) &&
             matrix.columns > 2 * p + 1;
    };
    if (!is_of_cells(axes[0]) || !is_of_cells(axes[1]) || !is_of_cells(axes[2])) continue;
    result.entries = matrix_of_cell(axes[0], p);
    bool are_repeated = true;
    for (int d = 0; d < 3; ++d) {
      const AxisMatrix& matrix = axes[d];
      result.cells[d] = (matrix.columns - 1) / p;
      result.masked[2 * d] = is_zero_column(matrix, 0);
      result.masked[2 * d + 1] = is_zero_column(matrix, matrix.columns - 1);
      are_repeated = are_repeated && repeats(matrix, p, result.entries, result.masked[2 * d],
                                             result.masked[2 * d + 1]);
    }
    if (are_repeated) return result;
  }
  return std::nullopt;
}

}  // namespace tessera
