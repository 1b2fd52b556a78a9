// This file checks and makes the grid lines of box meshes.
#include "mesh/box_mesh.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace tessera {
namespace {

void check_lines(const GridLines& lines, Index cells, double lower, double upper) {
  if (lines.empty()) return;
  if (static_cast<Index>(lines.size()) != cells + 1) {
    throw std::invalid_argument("a box mesh needs one grid line more than cells");
  }
  if (lines.front() != lower || lines.back() != upper) {
    throw std::invalid_argument("the grid lines of a box mesh begin at lower and end at upper");
  }
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i] > lines[i - 1]) continue;
    throw std::invalid_argument("the grid lines of a box mesh increase");
  }
}

}  // namespace

GridLines geometric_lines(double lower, double upper, Index cells, double ratio) {
  if (!(ratio > 0.0)) throw std::invalid_argument("the ratio of cell widths is positive");
  if (cells < 1) throw std::invalid_argument("an axis has at least one cell");
  if (ratio == 1.0) return {};
  GridLines lines(static_cast<std::size_t>(cells + 1));
  // ratio^i - 1 without cancellation for ratios near 1.
  const double growth = std::log(ratio);
  const double whole = std::expm1(static_cast<double>(cells) * growth);
  for (Index i = 0; i < cells; ++i) {
    lines[i] = lower + (upper - lower) * (std::expm1(static_cast<double>(i) * growth) / whole);
  }
  lines.back() = upper;
  return lines;
}

BoxMesh::BoxMesh(int dimension, const IndexTriple& cells, const Point& lower, const Point& upper,
                 std::array<GridLines, 3> lines)
    : dimension_(dimension), cells_(cells), lower_(lower), upper_(upper), lines_(std::move(lines)) {
  if (dimension != 2 && dimension != 3) throw std::invalid_argument("a box mesh is 2D or 3D");
  if (dimension == 2) {
    cells_[2] = 1;
    lower_[2] = upper_[2] = 0.0;
    lines_[2].clear();
  }
  for (int d = 0; d < dimension; ++d) {
    if (cells_[d] < 1) throw std::invalid_argument("a box mesh needs at least one cell per axis");
    if (!(upper_[d] > lower_[d])) throw std::invalid_argument("a box mesh needs upper > lower");
    check_lines(lines_[d], cells_[d], lower_[d], upper_[d]);
  }
  place_ = {{0, 0, 0}, cells_, lower_, upper_};
}

BoxMesh::BoxMesh(int dimension, const IndexTriple& cells, const PlaceInWhole& place,
                 std::array<GridLines, 3> lines)
    : dimension_(dimension),
      cells_(cells),
      lower_(place.lower),
      upper_(place.upper),
      place_(place),
      lines_(std::move(lines)) {
  for (int d = 0; d < dimension; ++d) {
    const Index first = place.first_cell[d];
    if (cells[d] < 1 || first < 0 || first + cells[d] > place.cells[d]) {
      throw std::invalid_argument("a part of a box mesh has cells, which are cells of the mesh");
    }
    lower_[d] = grid_line(d, 0);
    upper_[d] = grid_line(d, cells[d]);
    check_lines(lines_[d], cells_[d], lower_[d], upper_[d]);
  }
}

BoxMesh BoxMesh::part(const CellBox& box) const {
  PlaceInWhole place = place_;
  std::array<GridLines, 3> lines;
  for (int d = 0; d < dimension_; ++d) {
    const Index end = box.first[d] + box.counts[d];
    if (box.first[d] < 0 || box.counts[d] < 1 || end > cells_[d]) {
      throw std::invalid_argument("a part of a box mesh has cells, which are cells of the mesh");
    }
    place.first_cell[d] += box.first[d];
    if (!is_uniform(d)) lines[d].assign(&lines_[d][box.first[d]], &lines_[d][end] + 1);
  }
  const Index layers = dimension_ == 3 ? box.counts[2] : 1;
  return {dimension_, {box.counts[0], box.counts[1], layers}, place, std::move(lines)};
}

double BoxMesh::grid_line(int d, Index i) const {
  assert(0 <= i && i <= cells_[d]);
  if (!is_uniform(d)) return lines_[d][i];
  const Index line = place_.first_cell[d] + i;
  if (line == place_.cells[d]) return place_.upper[d];
  const double fraction = static_cast<double>(line) / static_cast<double>(place_.cells[d]);
  return place_.lower[d] + (place_.upper[d] - place_.lower[d]) * fraction;
}

double BoxMesh::cell_width(int d, Index c) const {
  assert(0 <= c && c < cells_[d]);
  if (!is_uniform(d)) return lines_[d][c + 1] - lines_[d][c];
  return (place_.upper[d] - place_.lower[d]) / static_cast<double>(place_.cells[d]);
}

}  // namespace tessera
