// This is the way to the kernel that adds a drift with one thread a line.
#pragma once

#include "mesh/element/basis_1d.hpp"
#include "operators/form/cell_grid.hpp"

namespace tessera {

/// y_i += sum_q (g_q v_q) . grad phi_i over cells that share no node, where row i is not
/// constrained; v counts as 0 where it is; where has_line_kernels(). Asynchronous.
/// @throws DeviceError
/// @param g [cell][axis][q] of all cells
void add_drift_by_lines(const Basis1D& basis, const CellGrid& grid, const CellRange& range,
                        const double* g, const double* v, double* y);

}  // namespace tessera
