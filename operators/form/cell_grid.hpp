// What GPU kernels know of a mesh, and the ranges of its cells that launches work on.
#pragma once

#include <algorithm>
#include <vector>

#include "mesh/index_box.hpp"
#include "operators/form/bilinear_form.hpp"

namespace tessera {

/// What GPU kernels know of mesh and lattice; passed to them by value.
struct CellGrid {
  int dimension;
  int degree;
  int cells[3];        // along each axis; 1 for the third in 2D
  IndexBox nodes;      // of the lattice
  unsigned dirichlet;  // bit f: face f of the box is constrained
};

/// The most nodes along an axis on the GPU: kernels count them in 32 bits, with tiles that may end
/// some thousand places beyond the last.
inline constexpr Index kMaxDeviceExtent = (Index{1} << 31) - (Index{1} << 16);

CellGrid make_cell_grid(const BilinearForm& form);

/// The number of a cell in the mesh, x fastest.
constexpr Index cell_number(const CellGrid& grid, const int (&position)[3]) {
  return position[0] +
         grid.cells[0] * (position[1] + grid.cells[1] * static_cast<Index>(position[2]));
}

/// The cells that one launch works on: first + step * index along each axis, index < count; they
/// are numbered x fastest.
struct CellRange {
  int first[3];
  int count[3];
  int step;

  constexpr Index size() const { return static_cast<Index>(count[0]) * count[1] * count[2]; }
};

/// All cells, numbered as in the mesh.
CellRange all_cells(const CellGrid& grid);

/// The first of the slabs of at most `most` cells that for_each_slab() goes through, at least one
/// cell: layers, rows of one layer, or cells of one row, which are neighbors in the numbering too.
CellRange largest_slab(const CellGrid& grid, Index most);

/// Calls f(slab) for slabs like the largest one, and smaller ones at the ends, that are all cells.
template <class F>
void for_each_slab(const CellGrid& grid, const CellRange& largest, F&& f) {
  const int(&cells)[3] = grid.cells;
  const int(&count)[3] = largest.count;
  for (int z = 0; z < cells[2]; z += count[2]) {
    for (int y = 0; y < cells[1]; y += count[1]) {
      for (int x = 0; x < cells[0]; x += count[0]) {
        f(CellRange{{x, y, z},
                    {std::min(count[0], cells[0] - x), std::min(count[1], cells[1] - y),
                     std::min(count[2], cells[2] - z)},
                    1});
      }
    }
  }
}

/// The cells by color c = (i_x mod 2) + 2 (i_y mod 2) + 4 (i_z mod 2), lowest first; cells of one
/// color share no node. Colors without cells are left out.
std::vector<CellRange> cell_colors(const CellGrid& grid);
/// The same of some cells. @param cells without gaps: step 1
std::vector<CellRange> cell_colors(const CellGrid& grid, const CellRange& cells);

/// The cells that have nodes on one of the faces, each once, as layers without gaps.
std::vector<CellRange> layers_at(const CellGrid& grid, FaceSet faces);

}  // namespace tessera
