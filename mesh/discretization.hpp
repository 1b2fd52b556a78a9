// A Discretization holds everything about where the nodes and quadrature points of a Q_p space are.
#pragma once

#include "mesh/box_mesh.hpp"
#include "mesh/element/basis_1d.hpp"
#include "mesh/geometry/frame.hpp"
#include "mesh/geometry/mapping.hpp"
#include "mesh/node_lattice.hpp"

namespace tessera {

/// A Q_p space on a box mesh: everything about where nodes and quadrature points are.
struct Discretization {
  BoxMesh mesh;
  Basis1D basis;
  NodeLattice lattice;
  Mapping mapping;
  /// Where mesh and mapping lie in physical space; errors name physical positions by it.
  Frame frame = {};
};

}  // namespace tessera
