// A Mapping says where the nodes of the lattice lie in physical space.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "mesh/box_mesh.hpp"
#include "mesh/element/basis_1d.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/node_lattice.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// Where the nodes of the lattice lie in physical space.
///
/// A Cartesian mapping stores nothing but the 1D node positions; an isoparametric one stores the
/// position of every node, and the cell map is their degree-p interpolant (24 bytes per node in
/// 3D).
class Mapping {
 public:
  /// Places the nodes at their box positions.
  Mapping(const BoxMesh& mesh, const NodeLattice& lattice, const std::vector<double>& nodes);

  /// Places the nodes at components[d](box position), d < dimension, evaluated in parallel.
  /// @throws BadFieldValue if a component is not finite at a node.
  Mapping(const BoxMesh& mesh, const NodeLattice& lattice, const std::vector<double>& nodes,
          const std::array<ScalarField, 3>& components);

  /// Places the nodes at coordinates[d][node], d < dimension.
  Mapping(const BoxMesh& mesh, const NodeLattice& lattice, const std::vector<double>& nodes,
          std::array<HostArray<double>, 3> coordinates);

  bool is_cartesian() const { return coordinates_[0].empty(); }
  /// Whether all cells are the same axis-aligned box.
  bool has_equal_cells() const { return is_cartesian() && is_uniform_; }
  const NodeLattice& lattice() const { return lattice_; }

  /// Cartesian only: positions along axis d of the nodes on a lattice line, [extents()[d]].
  const std::vector<double>& line(int d) const { return lines_[d]; }
  /// Isoparametric only: coordinate d of every node, [lattice().size()].
  const HostArray<double>& coordinate(int d) const { return coordinates_[d]; }

  /// Moves the coordinates of the nodes out of the mapping; they are empty if it is Cartesian.
  std::array<HostArray<double>, 3> take_coordinates() && { return std::move(coordinates_); }

  /// Writes the positions of `count` consecutive nodes, starting at `first`, to x, y and z.
  void node_positions(Index first, Index count, double* x, double* y, double* z) const;

  Index bytes() const;

 private:
  NodeLattice lattice_;
  bool is_uniform_;  // whether the mesh is
  std::array<std::vector<double>, 3> lines_;
  std::array<HostArray<double>, 3> coordinates_;
};

}  // namespace tessera
