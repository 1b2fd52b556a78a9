// This file puts the tables of a basis into GPU memory.
#include "operators/cells/block_contraction.cuh"
#include "operators/nonlinear/cell_integrator.hpp"

namespace tessera {

CellIntegrator::CellIntegrator(const Discretization& discretization)
    : points_(discretization),
      B_transposed_(transposed<double>(discretization.basis.B)),
      D_(discretization.basis.D.entries),
      D_transposed_(transposed<double>(discretization.basis.D)),
      scratch_(
          integral_cell_bytes(
              discretization.mesh.dimension(),
              std::max(discretization.basis.node_count(), discretization.basis.point_count()),
              !discretization.mapping.is_cartesian()),
          power(std::max(discretization.basis.node_count(), discretization.basis.point_count()),
                discretization.mesh.dimension())) {}

}  // namespace tessera
