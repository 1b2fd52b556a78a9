// This function adds nodal values of a batch of cells to a vector.
#pragma once

#include "mesh/lanes/simd.hpp"
#include "mesh/node_lattice.hpp"

namespace tessera {

/// y_i += v_i of one lane, for the nodes of its cell. @param v [nodes of a cell], x fastest
inline void add_to_cell(const NodeLattice& lattice, const IndexTriple& cell, const Lanes<double>* v,
                        int lane, double* y) {
  const int n = lattice.degree() + 1;
  const int nz = lattice.dimension() == 3 ? n : 1;
  double* const corner = y + lattice.first_node(cell);
  int i = 0;
  for (int iz = 0; iz < nz; ++iz) {
    for (int iy = 0; iy < n; ++iy) {
      double* const row = corner + lattice.offset(0, iy, iz);
      for (int ix = 0; ix < n; ++ix) row[ix] += v[i++][lane];
    }
  }
}

}  // namespace tessera
