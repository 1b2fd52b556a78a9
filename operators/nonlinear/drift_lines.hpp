// This is the way to the kernels that make and add a drift with one thread a line.
#pragma once

#include "mesh/element/basis_1d.hpp"
#include "operators/cells/fields/device_points.hpp"
#include "operators/form/cell_grid.hpp"
#include "operators/tensor/gpu/field_at_points.hpp"

namespace tessera {

/// y_i += sum_q (g_q v_q) . grad phi_i over cells that share no node, where row i is not
/// constrained; v counts as 0 where it is; where has_line_kernels(). Asynchronous.
/// @throws DeviceError
/// @param g [cell][axis][q] of all cells
void add_drift_by_lines(const Basis1D& basis, const CellGrid& grid, const CellRange& range,
                        const double* g, const double* v, double* y);

/// What a drift is made of, and g [cell][axis][q] of all cells, which is written.
struct DriftMaking {
  CellGrid grid;
  PointPlaces points;
  FieldInKernel derivative;  // dk/du
  const double* u;
  double* g;
};

/// Whether make_drift_by_lines() can: has_line_kernels() with few points, and all terms are
/// derivatives of programs that are not deep.
bool can_make_drift_by_lines(const Basis1D& basis, const DriftMaking& making);

/// Makes g. Asynchronous. @throws DeviceError
void make_drift_by_lines(const Basis1D& basis, const DriftMaking& making);

}  // namespace tessera
