// A WholeSum makes a vector of the whole, on every rank, of those of the ranks' boxes of it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "mesh/partition/part_nodes.hpp"
#include "solvers/memory/vector.hpp"
#include "solvers/ranks/gpu/device_carrier.hpp"

namespace tessera {

/// A box of the whole's nodes, which begins at a position there.
struct BoxInWhole {
  IndexTriple first;
  IndexBox nodes;
};

/// Between vectors of every rank's box of nodes and one of the whole that every rank has: whole =
/// sum over ranks of R_r^T box_r, and box = R_r whole. Boxes may overlap. The sums are in double
/// precision and in the order of ranks, with the same bits on all of them, which call sum()
/// together.
template <class T, class Space>
class WholeSum;

template <class T>
class WholeSum<T, Host> {
 public:
  /// @param ranks must outlive this object
  /// @param nodes of this rank's box
  WholeSum(const Communicator& ranks, const std::shared_ptr<const DeviceCarrier>& /*carrier*/,
           const NodesInWhole& nodes)
      : ranks_(ranks), nodes_(nodes), sums_(static_cast<std::size_t>(nodes.whole().size())) {}

  Index box_size() const { return nodes_.lattice().size(); }
  Index whole_size() const { return nodes_.whole().size(); }
  void sum(const HostVector<T>& box, HostVector<T>& whole) const;
  void take(const HostVector<T>& whole, HostVector<T>& box) const;
  std::int64_t bytes() const { return static_cast<std::int64_t>(sums_.size() * sizeof(double)); }

 private:
  const Communicator& ranks_;
  NodesInWhole nodes_;
  mutable std::vector<double> sums_;
};

template <class T>
class WholeSum<T, Device> {
 public:
  /// All ranks call it together.
  /// @param carrier of the ranks; null for a single one
  WholeSum(const Communicator& ranks, std::shared_ptr<const DeviceCarrier> carrier,
           const NodesInWhole& nodes);

  Index box_size() const { return box_.nodes.size(); }
  Index whole_size() const { return whole_.size(); }
  /// Both are queued. @throws DeviceError
  void sum(const DeviceVector<T>& box, DeviceVector<T>& whole) const;
  void take(const DeviceVector<T>& whole, DeviceVector<T>& box) const;
  std::int64_t bytes() const { return sent_.bytes() + gathered_.bytes() + boxes_.bytes(); }

 private:
  std::shared_ptr<const DeviceCarrier> carrier_;
  IndexBox whole_;
  BoxInWhole box_;
  DeviceArray<BoxInWhole> boxes_;  // of all ranks
  Index max_nodes_ = 0;            // nodes of the largest one
  mutable DeviceArray<T> sent_;
  mutable DeviceArray<T> gathered_;  // [rank][max_nodes_]
};

}  // namespace tessera
