// A RowEdge is what is special in a batch at an end of its rows.
#pragma once

#include <array>

#include "mesh/index.hpp"
#include "operators/kronecker/host/lanes.hpp"

namespace tessera {

/// Of batches at no end of a row.
template <class T>
struct NoRowEdge {
  void clear_beyond(Lanes<T>*, int) const {}
  T kept(T next) const { return next; }
  void clear_last(Lanes<T>&) const {}
  void add_end_terms(const Lanes<T>&, Lanes<T>&) const {}
};

/// A batch has kLanes cells, of which those beyond the axis have no nodes; the last node is node 0
/// of one more. Constrained nodes count as zero.
template <class T>
class RowEdge {
 public:
  /// @param end_terms what the stiffness has beside the cells' at the first and the last node
  RowEdge(Index batch, Index cells, const std::array<bool, 2>& constrained,
          const std::array<T, 2>& end_terms)
      : is_cell_(lane_numbers<T>() < broadcast(static_cast<T>(cells - batch * kLanes<T>))) {
    const Index first = batch * kLanes<T>;
    has_node_ = lane_numbers<T>() <= broadcast(static_cast<T>(cells - first));
    has_next_ = first + kLanes<T> < cells + (constrained[1] ? 0 : 1);
    for (int side = 0; side < 2; ++side) {
      const auto at =
          lane_numbers<T>() == broadcast(static_cast<T>((side == 0 ? Index{0} : cells) - first));
      if (constrained[side]) has_node_ = has_node_ & ~at;
      end_term_ = at ? broadcast(end_terms[side]) : end_term_;
    }
  }

  /// Zeros at nodes [p] that are none or are constrained; node 0 of a cell lies in nodes[0].
  [[gnu::always_inline]] void clear_beyond(Lanes<T>* nodes, int p) const {
    nodes[0] = has_node_ ? nodes[0] : Lanes<T>{};
#pragma GCC unroll 8
    for (int i = 1; i < p; ++i) nodes[i] = is_cell_ ? nodes[i] : Lanes<T>{};
  }
  /// The same for the node after the batch.
  T kept(T next) const { return has_next_ ? next : T{0}; }
  /// The last node acts on no cell.
  [[gnu::always_inline]] void clear_last(Lanes<T>& nodes) const {
    nodes = is_cell_ ? nodes : Lanes<T>{};
  }
  /// What the ends' terms add to K u at nodes 0.
  [[gnu::always_inline]] void add_end_terms(const Lanes<T>& nodes, Lanes<T>& sums) const {
    sums += end_term_ * nodes;
  }

 private:
  using Mask = decltype(Lanes<T>{} < Lanes<T>{});

  Mask is_cell_;
  Mask has_node_;
  bool has_next_;
  Lanes<T> end_term_{};
};

}  // namespace tessera
