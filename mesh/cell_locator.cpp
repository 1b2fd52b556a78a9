// This file finds cells by division, or by bisection of the grid lines.
#include "mesh/cell_locator.hpp"

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

// The last cell whose lower grid line is not above the coordinate.
Index bisect(const BoxMesh& mesh, int d, double coordinate) {
  Index low = 0;
  Index high = mesh.cells()[d];
  while (high - low > 1) {
    const Index middle = (low + high) / 2;
    (mesh.grid_line(d, middle) <= coordinate ? low : high) = middle;
  }
  return low;
}

}  // namespace

CellLocator::CellLocator(const BoxMesh& mesh) : mesh_(mesh) {
  for (int d = 0; d < mesh.dimension(); ++d) {
    cells_per_length_[d] =
        static_cast<double>(mesh.cells()[d]) / (mesh.upper()[d] - mesh.lower()[d]);
  }
}

void CellLocator::find(int d, double coordinate, CellPoint& point) const {
  const Index cells = mesh_.cells()[d];
  if (!(coordinate > mesh_.lower()[d])) {
    point.cell[d] = 0;
    point.xi[d] = 0.0;
  } else if (coordinate >= mesh_.upper()[d]) {
    point.cell[d] = cells - 1;
    point.xi[d] = 1.0;
  } else if (mesh_.is_uniform(d)) {
    const double position = (coordinate - mesh_.lower()[d]) * cells_per_length_[d];
    point.cell[d] = std::min(static_cast<Index>(position), cells - 1);
    point.xi[d] = std::min(position - static_cast<double>(point.cell[d]), 1.0);
  } else {
    const Index cell = bisect(mesh_, d, coordinate);
    point.cell[d] = cell;
    point.xi[d] = (coordinate - mesh_.grid_line(d, cell)) / mesh_.cell_width(d, cell);
  }
}

CellPoint CellLocator::operator()(const Point& box) const {
  CellPoint point;
  for (int d = 0; d < mesh_.dimension(); ++d) find(d, box[d], point);
  return point;
}

}  // namespace tessera
