#include "mesh/box_mesh.hpp"

#include <stdexcept>

namespace tessera {

BoxMesh::BoxMesh(int dimension, const IndexTriple& cells, const Point& lower, const Point& upper)
    : dimension_(dimension), cells_(cells), lower_(lower), upper_(upper) {
  if (dimension != 2 && dimension != 3) throw std::invalid_argument("a box mesh is 2D or 3D");
  if (dimension == 2) {
    cells_[2] = 1;
    lower_[2] = upper_[2] = 0.0;
  }
  for (int d = 0; d < dimension; ++d) {
    if (cells_[d] < 1) throw std::invalid_argument("a box mesh needs at least one cell an axis");
    if (!(upper_[d] > lower_[d])) throw std::invalid_argument("a box mesh needs upper > lower");
  }
}

double BoxMesh::grid_line(int d, Index i) const {
  if (i == cells_[d]) return upper_[d];
  const double fraction = static_cast<double>(i) / static_cast<double>(cells_[d]);
  return lower_[d] + (upper_[d] - lower_[d]) * fraction;
}

IndexTriple BoxMesh::cell_position(Index cell) const {
  const Index row = cell / cells_[0];
  return {cell % cells_[0], row % cells_[1], row / cells_[1]};
}

}  // namespace tessera
