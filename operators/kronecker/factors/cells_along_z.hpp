// These functions say how cells of a KroneckerFactors differ, and prepare the z axis for the GPU.
#pragma once

#include <vector>

#include "operators/kronecker/device_data.hpp"
#include "operators/kronecker/factors/factors.hpp"

namespace tessera {

/// Along which axes the cells are alike, as the kernels tell it apart. Those of degrees beyond
/// kMaxFastDegree, which have no such kernels, count as different.
KroneckerCells kronecker_cells(const KroneckerFactors& factors);

/// The matrices of cells along z in 3D, in double precision.
struct CellsAlongZ {
  /// Those of the first cell, [p + 1][p + 1]; empty where there is a table.
  std::vector<EntryPair<double>> unit;
  /// Where there is a table, the matrices of all cells, [cell][p + 1][p + 1]. Where they are
  /// multiples of the first cell's, these, [cell], and then, as where cells are alike, zeros to the
  /// same size, so that it is known without looking at the cells.
  std::vector<EntryPair<double>> rows;
};

/// @param digits binary digits of the numbers they are for: rows of stiffness sum to 0 in these
/// @param scale by which all matrices are multiplied
CellsAlongZ cells_along_z(const AxisFactors& axis, KroneckerCells cells, int digits, double scale);

}  // namespace tessera
