// These types and functions say what each rank has of the planes and lines of fast diagonalization.
#pragma once

#include <vector>

#include "mesh/partition/box_partition.hpp"
#include "mesh/partition/part_nodes.hpp"
#include "operators/fast_diagonalization/layout.hpp"
#include "operators/ranks/box_exchange.hpp"

namespace tessera {

/// The free nodes of the whole, of which these are the modes.
NodeBox free_box(const AxisRoles<AxisModes>& modes, int dimension);

/// The modes of rank 0 on all, which call this together: eigenvectors have signs, which must be the
/// same. @throws as axis_roles(), on all ranks
AxisRoles<AxisModes> shared_modes(const BilinearForm& form, const NearestSeparable& separable);

/// Where a rank's vector has the nodes of the whole.
BoxPlaces places_in(const PartNodes& nodes, const CellBox& cells, int degree);

/// Whether each rank has all cells of some layers along the outer axis, z or in 2D y.
bool has_slabs(const BoxPartition& partition);

/// The boxes of free nodes, or of modes in their places, that each rank has at the stages of an
/// application, [rank]: what it owns of its part; planes along the outer axis; lines along that
/// axis; all that its part has.
struct InverseBoxes {
  std::vector<NodeBox> owned;
  std::vector<NodeBox> planes;
  std::vector<NodeBox> lines;
  std::vector<NodeBox> part;
};

/// @param free all free nodes. Where ranks have slabs along the outer axis (z, in 2D y) the planes
/// are those that a rank owns, elsewhere as many on each rank; so are lines, along y or in 2D x.
InverseBoxes inverse_boxes(const BoxPartition& partition, int degree, const NodeBox& free);

}  // namespace tessera
