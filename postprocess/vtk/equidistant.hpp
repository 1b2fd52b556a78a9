// These functions move values and positions to VTK's equidistant nodes.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "mesh/box_mesh.hpp"
#include "mesh/geometry/mapping.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/node_lattice.hpp"

namespace tessera {

/// Interpolates a lattice function from the element's nodes to equidistant ones: in each cell the
/// same polynomial of degree p, at (i/p, j/p, k/p) instead of (nodes[i], nodes[j], nodes[k]).
///
/// @param nodes the p + 1 element nodes on [0, 1], both ends included
/// @param values, out [lattice.size()], x fastest; out may be values
/// Parallel. Vertices are copied, and shared nodes agree to the last bit.
void to_equidistant(const NodeLattice& lattice, const std::vector<double>& nodes,
                    std::span<const double> values, std::span<double> out);

/// Physical positions of the equidistant nodes of every cell, in lattice order.
///
/// Stores three lines on a Cartesian mapping, and a coordinate per axis and node on an
/// isoparametric one.
class EquidistantPositions {
 public:
  /// @param nodes the element nodes on [0, 1] that the mapping was made with
  EquidistantPositions(const BoxMesh& mesh, const Mapping& mapping,
                       const std::vector<double>& nodes);

  /// Writes the positions of `count` consecutive nodes, starting at `first`, to x, y and z.
  void node_positions(Index first, Index count, double* x, double* y, double* z) const;

 private:
  std::optional<Mapping> cartesian_;
  std::array<HostArray<double>, 3> coordinates_;
};

}  // namespace tessera
