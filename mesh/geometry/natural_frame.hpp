// These functions move a discretization into a frame in which it is of order 1, and back.
#pragma once

#include <array>
#include <memory>

#include "mesh/discretization.hpp"

namespace tessera {

/// The frame in which a discretization in physical coordinates is of order 1 and near 0, so that
/// cubes of cell widths are representable in every precision, and differences of positions are
/// exact.
///
/// The length is the power of 4 next to the geometric mean of the extents along the axes. Along an
/// axis on which the box is not far from 0 the origin is 0; elsewhere it is the lower end of the
/// box. A position minus the origin is then exact.
Frame natural_frame(const Discretization& physical);

/// The same space in the coordinates X = (x - origin) / length. If the mesh is mapped, its box only
/// numbers the cells and gets a frame of its own. Nothing is rounded but numbers below 1e-308. A
/// part of a mesh stays one.
Discretization to_frame(Discretization physical, const Frame& frame);

/// The least and the largest coordinate along each axis.
struct Interval {
  double low;
  double high;
};
using Intervals = std::array<Interval, 3>;

/// Those of the nodes of a mapped mesh, else of the box; of a part the nodes are the part's own,
/// and the box is the whole's.
Intervals node_intervals(const Discretization& physical);

/// natural_frame() from the intervals of the nodes.
Frame natural_frame(const Intervals& intervals, int dimension);

/// What to_frame() makes of a mapped mesh from positions that are in the frame already.
Discretization mapped_in_frame(const BoxMesh& physical, Basis1D basis, const Frame& frame,
                               std::shared_ptr<NodePositions> positions);

/// The mesh of to_frame()'s result for a space on a mesh: of the whole of which that result may be
/// a part.
BoxMesh mesh_in_frame(const BoxMesh& physical, const Discretization& framed);

/// Undoes to_frame().
/// @param mesh the mesh that to_frame() was given
Discretization to_physical(Discretization framed, const BoxMesh& mesh);

/// Checks that the positions of the nodes of a mapped mesh have enough digits to tell how far apart
/// they are: along each of its axes every cell has an edge of at least 1e-10 times the largest
/// coordinate of the mesh.
/// @throws LostDigits
void check_digits(const Discretization& physical);
/// The same of a part of a mesh. @param intervals of the nodes of the whole
void check_digits(const Discretization& physical, const Intervals& intervals);

/// The length of the edge that each cell must have, for nodes in these intervals.
double min_edge(const Intervals& intervals, int dimension);

}  // namespace tessera
