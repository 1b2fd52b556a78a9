// NodePositions are where the nodes of a mapped mesh lie.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "mesh/lanes/host_array.hpp"
#include "mesh/node_lattice.hpp"

namespace tessera {

struct AxisMatrix;

/// The positions of all nodes of a mapped mesh, on the host or in another memory; from there the
/// host gets them when it first asks.
class NodePositions {
 public:
  /// @param coordinates one an axis, [lattice.size()]
  NodePositions(const NodeLattice& lattice, std::array<HostArray<double>, 3> coordinates)
      : lattice_(lattice), on_host_(std::move(coordinates)) {}
  virtual ~NodePositions() = default;
  NodePositions(const NodePositions&) = delete;
  NodePositions& operator=(const NodePositions&) = delete;

  const NodeLattice& lattice() const { return lattice_; }
  bool are_on_host() const { return !on_host_[0].empty(); }
  /// Coordinate d of every node, on the host from now on.
  const HostArray<double>& on_host(int d) const;
  /// The same, and takes it out: nothing else may be asked afterwards.
  std::array<HostArray<double>, 3> take();

  /// The positions of some nodes; z of 0 in 2D.
  virtual void read(std::span<const Index> nodes, double* x, double* y, double* z) const;
  /// The positions of the nodes of another lattice, by the values of this one's functions at them.
  /// @param at_nodes one an axis
  virtual std::shared_ptr<NodePositions> interpolated(const std::array<AxisMatrix, 3>& at_nodes,
                                                      const NodeLattice& lattice) const;

  /// What another memory has of these, made when it is first asked for.
  std::shared_ptr<const NodePositions> elsewhere(
      const std::function<std::shared_ptr<const NodePositions>()>& make) const;

 private:
  /// Copies to the host what lies in another memory.
  virtual std::array<HostArray<double>, 3> fetch() const { return {}; }

  NodeLattice lattice_;
  mutable std::once_flag fetched_;
  mutable std::array<HostArray<double>, 3> on_host_;
  mutable std::mutex making_;
  mutable std::shared_ptr<const NodePositions> elsewhere_;
};

}  // namespace tessera
