// These are the positions of nodes and of quadrature points in GPU memory, as kernels see them.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "mesh/discretization.hpp"
#include "operators/cells/fields/device_nodes.hpp"

namespace tessera {

/// Where nodes are, as kernels see it.
struct NodePlaces {
  bool is_mapped;
  int dimension;
  IndexBox box;
  const double* position[3];  // of every node of a mapped mesh, else of those on an axis
};

/// The positions of nodes in GPU memory.
class DevicePlaces {
 public:
  /// @throws DeviceError
  explicit DevicePlaces(const Mapping& mapping) {
    const NodeLattice& lattice = mapping.lattice();
    view_ = {!mapping.is_cartesian(), lattice.dimension(), lattice.nodes(), {}};
    if (view_.is_mapped) nodes_ = nodes_on_device(mapping);
    for (int d = 0; d < lattice.dimension(); ++d) {
      if (!view_.is_mapped) lines_[d] = DeviceArray<double>(mapping.line(d));
      view_.position[d] = view_.is_mapped ? nodes_->coordinate(d) : lines_[d].data();
    }
  }
  const NodePlaces& view() const { return view_; }

 private:
  std::shared_ptr<const DeviceNodes> nodes_;
  std::array<DeviceArray<double>, 3> lines_;
  NodePlaces view_;
};

/// Where the quadrature points of cells are, as kernels see it.
struct PointPlaces {
  NodePlaces nodes;
  int points;               // along an axis
  const double* B;          // [q][i]
  const double* abscissas;  // [q], one axis
  const double* weights;    // [q], one axis
  const double* width[3];   // of the cells along each axis, where they are not mapped
};

/// The positions of nodes and the tables that lead from them to quadrature points, in GPU memory.
class DevicePoints {
 public:
  /// @throws DeviceError
  explicit DevicePoints(const Discretization& discretization)
      : places_(discretization.mapping),
        B_(discretization.basis.B.entries),
        abscissas_(discretization.basis.quadrature.points),
        weights_(discretization.basis.quadrature.weights),
        view_{places_.view(),  discretization.basis.point_count(),
              B_.data(),       abscissas_.data(),
              weights_.data(), {}} {
    const BoxMesh& mesh = discretization.mesh;
    for (int d = 0; d < mesh.dimension() && !view_.nodes.is_mapped; ++d) {
      std::vector<double> of_cells;
      for (Index c = 0; c < mesh.cells()[d]; ++c) of_cells.push_back(mesh.cell_width(d, c));
      widths_[d] = DeviceArray<double>(of_cells);
      view_.width[d] = widths_[d].data();
    }
  }
  const PointPlaces& view() const { return view_; }

 private:
  DevicePlaces places_;
  DeviceArray<double> B_, abscissas_, weights_;
  std::array<DeviceArray<double>, 3> widths_;
  PointPlaces view_;
};

}  // namespace tessera
