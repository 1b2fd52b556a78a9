// A Mapping says where the nodes of the lattice lie in physical space.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "mesh/box_mesh.hpp"
#include "mesh/element/basis_1d.hpp"
#include "mesh/geometry/node_positions.hpp"
#include "mesh/node_lattice.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// Where the nodes of the lattice lie in physical space.
///
/// A Cartesian mapping stores nothing but the 1D node positions; an isoparametric one stores the
/// position of every node, and the cell map is their degree-p interpolant (24 bytes per node in
/// 3D); its copies share them.
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

  /// Places the nodes where they are.
  Mapping(const BoxMesh& mesh, const NodeLattice& lattice, const std::vector<double>& nodes,
          std::shared_ptr<NodePositions> positions);

  bool is_cartesian() const { return positions_ == nullptr; }
  /// Whether all cells are the same axis-aligned box.
  bool has_equal_cells() const { return is_cartesian() && is_uniform_; }
  const NodeLattice& lattice() const { return lattice_; }

  /// Cartesian only: positions along axis d of the nodes on a lattice line, [extents()[d]].
  const std::vector<double>& line(int d) const { return lines_[d]; }
  /// Of all nodes; null if the mapping is Cartesian.
  std::shared_ptr<const NodePositions> positions() const { return positions_; }
  /// Isoparametric only: coordinate d of every node, [lattice().size()].
  const HostArray<double>& coordinate(int d) const { return positions_->on_host(d); }

  /// Isoparametric only: the coordinates of the nodes, moved out of the mapping unless it has
  /// copies.
  std::array<HostArray<double>, 3> take_coordinates() &&;

  /// Writes the positions of `count` consecutive nodes, starting at `first`, to x, y and z.
  void node_positions(Index first, Index count, double* x, double* y, double* z) const;
  /// The same of any nodes.
  void node_positions(std::span<const Index> nodes, double* x, double* y, double* z) const;

  Index bytes() const;

 private:
  NodeLattice lattice_;
  bool is_uniform_;  // whether the mesh is
  std::array<std::vector<double>, 3> lines_;
  std::shared_ptr<NodePositions> positions_;
};

}  // namespace tessera
