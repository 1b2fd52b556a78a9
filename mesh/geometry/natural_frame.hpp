// These functions move a discretization into a frame in which it is of order 1, and back.
#pragma once

#include "mesh/discretization.hpp"

namespace tessera {

/// The frame in which a discretization in physical coordinates is of order 1 and near 0, so that
/// cell widths to the power of 3 are numbers of any precision, and differences of positions are
/// exact.
///
/// The length is the power of 4 next to the geometric mean of the extents along the axes. The
/// origin is 0 along an axis on which the box is not far from 0, and else its lower end: a position
/// less the origin is then exact.
Frame natural_frame(const Discretization& physical);

/// The same space with X = (x - origin) / length for x. The box of a mapped mesh, which only
/// numbers its cells, goes to a frame of its own. Nothing is rounded but numbers below 1e-308.
Discretization to_frame(Discretization physical, const Frame& frame);

/// Takes back to_frame().
/// @param mesh the one that there was
Discretization to_physical(Discretization framed, const BoxMesh& mesh);

/// Whether the positions of the nodes of a mapped mesh have digits enough to say how far they are
/// from each other: all cells have an edge along each of their axes that is at least 1e-10 of the
/// largest coordinate along the axes of space.
/// @throws LostDigits
void check_digits(const Discretization& physical);

}  // namespace tessera
