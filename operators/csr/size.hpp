// These functions know the nonzeros and bytes of the assembled matrix before it is made.
#pragma once

#include "mesh/face.hpp"
#include "mesh/node_lattice.hpp"

namespace tessera {

/// Number of nonzeros of the assembled matrix: free nodes couple to the free nodes of their cells,
/// constrained rows hold the diagonal.
Index csr_nonzeros(const NodeLattice& lattice, FaceSet dirichlet);

/// Bytes of the assembled matrix, before building it: 4-byte indices up to 2^31 - 1 nonzeros,
/// else 8.
Index csr_bytes(const NodeLattice& lattice, FaceSet dirichlet, Index value_bytes);

}  // namespace tessera
