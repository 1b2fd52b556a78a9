// This is the way to the kernel that sums up a residual with one thread a line.
#pragma once

#include <vector>

#include "mesh/element/basis_1d.hpp"
#include "operators/cells/fields/cell_integrator.hpp"

namespace tessera {

/// Whether add_integrals_by_lines() can: has_line_kernels() with few points, and no field has a
/// deep program or is a derivative.
bool has_integrals_by_lines(int dimension, const Basis1D& basis, const DeviceFields& fields);

/// As CellIntegrator::add_integrals(). @throws DeviceError
bool add_integrals_by_lines(const Basis1D& basis, const PointPlaces& points, const CellGrid& grid,
                            const DeviceFields& fields, const std::vector<CellRange>& ranges,
                            const DeviceVector<double>& u, DeviceVector<double>& r);

}  // namespace tessera
