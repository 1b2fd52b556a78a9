// These functions number the nodes of VTK's Lagrange cells.
#pragma once

#include <vector>

#include "mesh/node_lattice.hpp"

namespace tessera {

/// VTK's number of a cell's type: a quadrilateral or hexahedron, a Lagrange one if degree > 1.
int vtk_cell_type(int dimension, int degree);

/// Entry v is how far VTK's node v of a cell of this degree lies from the cell's first node in the
/// lattice. Hexahedra are numbered as of VTK 9.1, which files of version 2.2 have.
std::vector<Index> vtk_node_offsets(const NodeLattice& lattice, int degree);

}  // namespace tessera
