// A CellIntegrator is what kernels integrate over cells with, in GPU memory.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "operators/cells/block_scratch.hpp"
#include "operators/cells/fields/device_field.hpp"
#include "operators/cells/fields/device_points.hpp"
#include "operators/form/cell_grid.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// The tables of a basis, by rows, as kernels by teams take them.
struct BasisTables {
  const double* B_transposed;  // [i][q]
  const double* D;             // [q][q]
  const double* D_transposed;  // [q][q]
};

/// Bytes that are kept of a cell: u and of mapped cells positions, and as much again to work with,
/// which has room for values and fluxes.
/// @param points along an axis, of which there are p + 1 or more
constexpr Index integral_cell_bytes(int dimension, int points, bool is_mapped) {
  const int tensors = is_mapped ? 2 * (dimension + 1) : dimension + 2;
  return tensors * power(points, dimension) * static_cast<Index>(sizeof(double));
}

/// Coefficient k, reaction c and source f of a problem in GPU memory.
struct DeviceFields {
  DeviceField coefficient, reaction, source;

  /// Nothing if one of them is no DeviceField. @throws DeviceError
  static std::optional<DeviceFields> make(const BilinearForm& form, const ScalarField& source);
  /// Whether k or c depend on u.
  bool form_depends_on_u() const { return coefficient.depends_on_u() || reaction.depends_on_u(); }
};

/// Integrates over cells, or has for others what that takes: positions of quadrature points, tables
/// of the basis and the scratch of cells.
class CellIntegrator {
 public:
  /// @throws DeviceError
  explicit CellIntegrator(const Discretization& discretization);

  /// r_i += (k(u) grad u, grad phi_i) + (c u - f(u), phi_i) over the cells of some ranges, one
  /// launch each; the nodes of constrained rows as all others. Deterministic.
  /// @param grid that of the discretization
  /// @param ranges of which each has cells that share no node
  /// @return whether k is positive, c not negative and f finite at all points. @throws DeviceError
  bool add_integrals(const CellGrid& grid, const DeviceFields& fields,
                     const std::vector<CellRange>& ranges, const DeviceVector<double>& u,
                     DeviceVector<double>& r);

  const PointPlaces& points() const { return points_.view(); }
  BasisTables tables() const { return {B_transposed_.data(), D_.data(), D_transposed_.data()}; }
  /// Of kernels that need positions and Jacobians as well.
  const BlockScratch& scratch() const { return scratch_; }
  Index bytes() const { return scratch_.global_bytes(); }

 private:
  DevicePoints points_;
  DeviceArray<double> B_transposed_, D_, D_transposed_;
  BlockScratch scratch_;
  DeviceArray<int> are_allowed_;
};

}  // namespace tessera
