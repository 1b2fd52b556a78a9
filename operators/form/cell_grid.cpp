// This file makes the ranges and colors of cells that launches work on.
#include "operators/form/cell_grid.hpp"

namespace tessera {

CellGrid make_cell_grid(const BilinearForm& form) {
  const Discretization& discretization = *form.discretization;
  const IndexTriple& cells = discretization.mesh.cells();
  return {discretization.mesh.dimension(),
          discretization.lattice.degree(),
          {static_cast<int>(cells[0]), static_cast<int>(cells[1]), static_cast<int>(cells[2])},
          discretization.lattice.nodes(),
          static_cast<unsigned>(form.dirichlet.to_ulong())};
}

CellRange all_cells(const CellGrid& grid) {
  return {{0, 0, 0}, {grid.cells[0], grid.cells[1], grid.cells[2]}, 1};
}

CellRange largest_slab(const CellGrid& grid, Index most) {
  CellRange slab{{0, 0, 0}, {1, 1, 1}, 1};
  for (int d = 0; d < 3; ++d) {
    slab.count[d] = static_cast<int>(std::clamp<Index>(most, 1, grid.cells[d]));
    most /= grid.cells[d];
  }
  return slab;
}

std::vector<CellRange> cell_colors(const CellGrid& grid) {
  return cell_colors(grid, all_cells(grid));
}

std::vector<CellRange> cell_colors(const CellGrid& grid, const CellRange& cells) {
  std::vector<CellRange> colors;
  for (int color = 0; color < 1 << grid.dimension; ++color) {
    CellRange range{{0, 0, 0}, {1, 1, 1}, 2};
    for (int d = 0; d < grid.dimension; ++d) {
      const int offset = color >> d & 1;
      range.first[d] = cells.first[d] + offset;
      range.count[d] = (cells.count[d] - offset + 1) / 2;
    }
    if (range.size() > 0) colors.push_back(range);
  }
  return colors;
}

std::vector<CellRange> layers_at(const CellGrid& grid, FaceSet faces) {
  std::vector<CellRange> layers;
  CellRange rest = all_cells(grid);
  for (int face = 0; face < face_count(grid.dimension); ++face) {
    if (!faces[face] || rest.size() == 0) continue;
    const int d = face_axis(face);
    CellRange layer = rest;
    layer.count[d] = 1;
    if (is_upper_face(face)) {
      layer.first[d] += rest.count[d] - 1;
    } else {
      ++rest.first[d];
    }
    --rest.count[d];
    layers.push_back(layer);
  }
  return layers;
}

}  // namespace tessera
