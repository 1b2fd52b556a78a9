// A prolongation whose cells are all alike is known by one cell's matrix.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "mesh/element/axis_matrix.hpp"
#include "mesh/face.hpp"

namespace tessera {

/// P = P_x x P_y x P_z where each axis has cells with the same matrix of 2 p rows, whether of each
/// two halves one cell was made, or of degree 2 p degree p.
struct RepeatedCells {
  int p = 0;            // degree of the coarser space
  IndexTriple cells{};  // of the coarser lattice
  /// [2 p][p + 1], the coarser nodes fastest: row r has the values at node r of a cell, of which
  /// node 2 p is node 0 of the next one. Rows of coarser_node() have a 1 there and 0 elsewhere.
  std::vector<double> entries;
  /// Faces on which columns of the coarser nodes are 0.
  FaceSet masked;
};

/// The coarser node that node r < 2 p of a cell is, or -1.
constexpr int coarser_node(int p, int r) {
  if (r == 0) return 0;
  return p % 2 == 0 && r == p ? p / 2 : -1;
}

/// The largest degree that repeated_cells() looks for.
inline constexpr int kMaxRepeatedDegree = 4;

/// @param axes x first
/// @return none where the matrices are others
std::optional<RepeatedCells> repeated_cells(const std::array<AxisMatrix, 3>& axes);

}  // namespace tessera
