// This is the way to the kernels that integrate a source with one thread a line.
#pragma once

#include <vector>

#include "mesh/element/basis_1d.hpp"
#include "operators/cells/fields/device_field.hpp"
#include "operators/cells/fields/device_points.hpp"
#include "operators/form/cell_grid.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// Whether add_source_by_lines() can: 3D with p + 1 points, of which there are few, and a program
/// that is not deep.
bool has_source_by_lines(int dimension, const Basis1D& basis, const DeviceField& source);

/// b_i += (f, phi_i) over the cells of some ranges, each of cells that share no node; constrained
/// rows as all others. @return whether f is finite at all points. @throws DeviceError
bool add_source_by_lines(const Basis1D& basis, const PointPlaces& points, const CellGrid& grid,
                         const DeviceField& source, const std::vector<CellRange>& ranges,
                         DeviceVector<double>& b);

}  // namespace tessera
