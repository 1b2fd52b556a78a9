// A BoxExchange brings what ranks have in boxes of nodes into other boxes.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "mesh/index.hpp"
#include "mesh/lanes/host_array.hpp"
#include "solvers/execution.hpp"
#include "solvers/memory/device_array.hpp"
#include "solvers/ranks/communicator.hpp"

namespace tessera {

class DeviceCarrier;

/// The nodes first[d] <= i_d < end[d] of a box of them.
struct NodeBox {
  IndexTriple first{};
  IndexTriple end{};

  Index extent(int d) const { return std::max<Index>(0, end[d] - first[d]); }
  Index size() const { return extent(0) * extent(1) * extent(2); }
};

inline NodeBox intersection(const NodeBox& a, const NodeBox& b) {
  NodeBox both;
  for (int d = 0; d < 3; ++d) {
    both.first[d] = std::max(a.first[d], b.first[d]);
    both.end[d] = std::max(both.first[d], std::min(a.end[d], b.end[d]));
  }
  return both;
}

/// Where the values of a box lie: node i at origin + i_0 + strides[0] i_1 + strides[1] i_2, where
/// i counts among all nodes.
struct BoxPlaces {
  Index origin = 0;
  std::array<Index, 2> strides{};

  Index of(const IndexTriple& i) const {
    return origin + i[0] + strides[0] * i[1] + strides[1] * i[2];
  }
};

/// The places of a box whose values follow each other, x fastest.
inline BoxPlaces packed(const NodeBox& box) {
  const Index row = box.extent(0);
  const Index plane = row * box.extent(1);
  return {-box.first[0] - row * box.first[1] - plane * box.first[2], {row, plane}};
}

/// How many values the messages of a rank's BoxExchange have room for: those of the host are as
/// long in both directions.
Index exchanged_values(int rank, const std::vector<NodeBox>& from, const std::vector<NodeBox>& to,
                       Processor processor = Processor::cpu);

/// Copies values from boxes, of which every rank has one, to boxes of which every rank has one, too
/// (a transpose, if boxes are slabs): all ranks send each other the values that the others' boxes
/// have of their own. Nodes that are in no rank's first box keep their values. What is copied has
/// its bits.
template <class T, class Space = Host>
class BoxExchange;

template <class T>
class BoxExchange<T, Host> {
 public:
  /// @param ranks must outlive this
  /// @param from, to the boxes of all ranks; those of `from` have no node in common
  BoxExchange(const Communicator& ranks, const std::vector<NodeBox>& from,
              const std::vector<NodeBox>& to);

  /// All ranks call it together. @param in, out not the same memory
  void run(const T* in, const BoxPlaces& in_places, T* out, const BoxPlaces& out_places) const;
  /// Of messages.
  Index bytes() const { return static_cast<Index>((sent_.size() + received_.size()) * sizeof(T)); }

 private:
  // Values to and from another rank; as many places of the buffers as the longer of both takes.
  struct Partner {
    int rank;
    NodeBox send;
    NodeBox receive;
    Index at;
    Index length;
  };

  const Communicator& ranks_;
  NodeBox kept_;  // by this rank
  std::vector<Partner> partners_;
  mutable HostArray<T> sent_;
  mutable HostArray<T> received_;
};

/// The same between GPUs, queued: it can be captured where the carrier's messages can be. Launches
/// of a thread for each value, 16 bytes of memory for a value that is packed or unpacked.
template <class T>
class BoxExchange<T, Device> {
 public:
  /// @param ranks, carrier of the ranks; null for a single one
  /// @throws DeviceOutOfMemory, DeviceError
  BoxExchange(const Communicator& ranks, std::shared_ptr<const DeviceCarrier> carrier,
              const std::vector<NodeBox>& from, const std::vector<NodeBox>& to);

  /// As on the host. @param in, out in GPU memory @throws DeviceError
  void run(const T* in, const BoxPlaces& in_places, T* out, const BoxPlaces& out_places) const;
  Index bytes() const { return sent_.bytes() + received_.bytes(); }

 private:
  struct Partner {
    int rank;
    NodeBox send;
    NodeBox receive;
    Index sent_at;
    Index received_at;
  };

  std::shared_ptr<const DeviceCarrier> carrier_;
  NodeBox kept_;
  std::vector<Partner> partners_;
  mutable DeviceArray<T> sent_;
  mutable DeviceArray<T> received_;
};

}  // namespace tessera
