// These functions cut the lattice into bricks of nodes, the blocks of block Jacobi.
#pragma once

#include "mesh/node_lattice.hpp"
#include "solvers/preconditioners/block_rows.hpp"

namespace tessera {

/// Nodes of a brick along each axis that block methods use if not told otherwise, 256 in all.
IndexTriple default_node_brick(int dimension);

/// Bricks of at most this many nodes that the lattice is cut into.
Index node_brick_count(const NodeLattice& lattice, const IndexTriple& brick);

/// The bricks as blocks of rows, x fastest, and so are the nodes of a brick. Along an axis brick
/// sizes differ by at most one.
/// @throws std::invalid_argument for more than 2^31 - 1 nodes
RowBlocks make_node_bricks(const NodeLattice& lattice, const IndexTriple& brick);

}  // namespace tessera
