// These device functions are the passes of q = A p over a brick in shared memory.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "operators/kronecker/resident/arguments.cuh"
#include "operators/kronecker/resident/block_brick.cuh"

namespace tessera {

/// What an item of a pass has: the nodes that C cells own, in a window of the line that begins p
/// nodes before them. Nodes are counted from the first of these.
template <int P>
inline constexpr int kItemCells = cells_of_item(P);
template <int P>
inline constexpr int kItemNodes = kItemCells<P>* P;

/// Where the entry of an output's row for a node of the window is among UnitMatrices: its place,
/// kVertexEntry for a vertex itself, or kNoEntry where the two have no cell in common.
inline constexpr int kVertexEntry = -1;
inline constexpr int kNoEntry = -2;
constexpr int entry_place(int p, int out, int in) {
  if (out % p != 0) {
    const int begin = out - out % p;
    return in < begin || in > begin + p ? kNoEntry : distinct_entry(p, out - begin, in - begin);
  }
  if (in == out) return kVertexEntry;
  if (in < out) return in < out - p ? kNoEntry : distinct_entry(p, p, in - out + p);
  return in > out + p ? kNoEntry : distinct_entry(p, 0, in - out);
}

/// f(std::integral_constant) of first .. first + count - 1: what is indexed by it stays in
/// registers for certain.
template <int first, int count, class F>
__device__ __forceinline__ void for_each_constant(F&& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (f(std::integral_constant<int, first + i>()), ...);
  }
  (std::make_integer_sequence<int, count>());
}
/// The nodes of an item, or of its window.
template <int P, class F>
__device__ __forceinline__ void for_each_node(F&& f) {
  for_each_constant<0, kItemNodes<P>>(f);
}
template <int P, class F>
__device__ __forceinline__ void for_each_of_window(F&& f) {
  for_each_constant<-P, kItemNodes<P> + P + 1>(f);
}

/// Calls f(out, entry) for the outputs that a node of the window is part of.
template <int P, int in, class F>
__device__ __forceinline__ void for_each_output(const UnitMatrices<double, P>& unit, F&& f) {
  for_each_node<P>([&](auto out) {
    constexpr int kPlace = entry_place(P, out, in);
    if constexpr (kPlace == kVertexEntry) {
      f(out, unit.vertex);
    } else if constexpr (kPlace != kNoEntry) {
      f(out, unit.entries[kPlace]);
    }
  });
}

/// Places in shared memory are counted in bytes, so that an address is one addition.
inline constexpr int kValueBytes = static_cast<int>(sizeof(double));
__device__ __forceinline__ double value_at(const double* values, int bytes) {
  return *reinterpret_cast<const double*>(reinterpret_cast<const char*>(values) + bytes);
}
__device__ __forceinline__ void set_value(double* values, int bytes, double value) {
  *reinterpret_cast<double*>(reinterpret_cast<char*>(values) + bytes) = value;
}

/// Where an item lies on its line: a few bits, which are known before the first iteration.
template <int P>
class LineItem {
 public:
  /// @param segment number of the item on its line
  __device__ LineItem(const BlockBrick& brick, int d, int segment)
      : is_first_(segment == 0),
        cells_(min(brick.cells[d] - segment * kItemCells<P>, kItemCells<P> + 1)) {}
  __device__ explicit LineItem(int bits) : is_first_((bits & 1) != 0), cells_(bits >> 1 & 7) {}
  static constexpr int kBits = 4;
  __device__ int bits() const { return (is_first_ ? 1 : 0) | cells_ << 1; }

  /// Whether the line has the node.
  template <int node>
  __device__ bool has() const {
    if constexpr (node < 0) return !is_first_;
    if constexpr (node == 0) return true;
    return (node + P - 1) / P <= cells_;
  }
  /// Whether it is an end of the line; of an item's own nodes.
  template <int node>
  __device__ bool is_first() const {
    if constexpr (node != 0) return false;
    return is_first_;
  }
  template <int node>
  __device__ bool is_last() const {
    if constexpr (node % P != 0) return false;
    return node / P == cells_;
  }

  /// f(node, correction) at the ends of the line among the item's nodes: what is to be added to the
  /// diagonal entry, which is that of a vertex between two cells.
  template <class F>
  __device__ __forceinline__ void for_each_end(const BlockBrick& brick, int d, F&& f) const {
    if (!is_first_ && cells_ >= kItemCells<P>) return;
    for_each_node<P>([&](auto node) {
      if constexpr (node % P == 0) {
        if (is_first<node>()) f(node, brick.end[d][0]);
        if (is_last<node>()) f(node, brick.end[d][1]);
      }
    });
  }

 private:
  bool is_first_;
  int cells_;  // from the item's first one to the end of the line, one more than it has at most
};

/// What each pass has to do, thread by thread, in shared memory: found once, as it takes long
/// beside an item. An entry has the item's place and some flags.
template <int dimension, int P>
class PassItems {
 public:
  /// @param table table_values() of shared memory
  __device__ PassItems(const BlockBrick& brick, double* table)
      : rows_(reinterpret_cast<int*>(table)),
        middle_(rows_ + row_items(brick)),
        middle_to_(reinterpret_cast<std::uint16_t*>(middle_ + middle_items(brick))),
        outer_(middle_to_ + middle_items(brick)) {}

  __device__ static int row_items(const BlockBrick& brick) {
    return items_of_pass(P, brick.cells[0], brick.nodes[1]);
  }
  __device__ static int middle_items(const BlockBrick& brick) {
    return dimension == 3 ? items_of_pass(P, brick.cells[1], brick.row) : 0;
  }

  __device__ void find(const BlockBrick& brick) {
    for (int column = this_thread(); column < brick.plane; column += kResidentThreads) {
      const int y = brick.by_row(column);
      const int x = column - y * brick.row;
      const bool is_free = brick.is_free(0, x) && brick.is_free(1, y);
      outer_[column] = static_cast<std::uint16_t>((x + y * brick.middle_stride) |
                                                  (is_free ? 1 << kPlaceBits : 0));
    }
    const int rows = kItemNodes<P> * brick.nodes[1];
    for (int number = this_thread(); number < row_items(brick); number += kResidentThreads) {
      const int segment = number / rows;
      const int row = number - segment * rows;
      const int z = brick.by_middle(row);
      const int y = row - z * brick.nodes[1];
      const int flags = z << 2 | (brick.is_free(1, y) ? 1 : 0) | (brick.owns(1, y) ? 2 : 0);
      rows_[number] = (row * brick.row + segment * kItemNodes<P>) |
                      LineItem<P>(brick, 0, segment).bits() << kPlaceBits |
                      flags << (kPlaceBits + LineItem<P>::kBits);
    }
    if constexpr (dimension == 3) {
      const int lines = kItemNodes<P> * brick.row;
      for (int number = this_thread(); number < middle_items(brick); number += kResidentThreads) {
        const int segment = number / lines;
        const int line = number - segment * lines;
        const int z = brick.by_row(line);
        const int first = segment * kItemNodes<P>;
        middle_[number] = (line + first * brick.middle_stride) |
                          LineItem<P>(brick, 1, segment).bits() << kPlaceBits |
                          z << (kPlaceBits + LineItem<P>::kBits);
        middle_to_[number] =
            static_cast<std::uint16_t>(line + z * (brick.plane - brick.row) + first * brick.row);
      }
    }
  }

  __device__ int outer(int column) const { return outer_[column]; }
  __device__ int row(int number) const { return rows_[number]; }
  __device__ int middle(int number) const { return middle_[number]; }
  __device__ int middle_to(int number) const { return middle_to_[number]; }

  static constexpr int kPlaceBits = 15;
  __device__ static int place(int item) { return item & ((1 << kPlaceBits) - 1); }
  __device__ static LineItem<P> line(int item) { return LineItem<P>(item >> kPlaceBits); }
  __device__ static int flags(int item) { return item >> (kPlaceBits + LineItem<P>::kBits); }

 private:
  int* rows_;
  int* middle_;
  std::uint16_t* middle_to_;
  std::uint16_t* outer_;
};

/// Along the outer axis, for a chunk of planes from that of item `segment` on: m = M u, k = K u,
/// [middle][planes][row], where constrained nodes count as 0. 2 (p + 2) FMAs a node.
template <int dimension, int P>
__device__ __forceinline__ void outer_pass(const ResidentArguments<P>& g, const BlockBrick& brick,
                                           const PassItems<dimension, P>& items, const double* u,
                                           int segment, double* m, double* k) {
  using Items = PassItems<dimension, P>;
  const LineItem<P> item(brick, 2, segment);
  const bool is_low_fixed = brick.first_free[2] > 0;
  const bool is_high_fixed = brick.last_free[2] < brick.nodes[2] - 1;
  const int plane_bytes = brick.plane * kValueBytes;
  const int row_bytes = brick.row * kValueBytes;
  const int first = segment * kItemNodes<P>;
  const int last = brick.nodes[2] - 1;
  for (int column = this_thread(); column < brick.plane; column += kResidentThreads) {
    const int entry = items.outer(column);
    const bool is_free = (entry >> Items::kPlaceBits) != 0;
    double of_m[kItemNodes<P>] = {};
    double of_k[kItemNodes<P>] = {};
    double at[kItemNodes<P>];
    int from = (first - P) * plane_bytes + column * kValueBytes;
    for_each_of_window<P>([&](auto in) {
      bool is_read = is_free && item.template has<in>();
      if constexpr (in % P == 0) {
        is_read = is_read && !(is_low_fixed && first + in == 0);
        is_read = is_read && !(is_high_fixed && first + in == last);
      }
      const double value = is_read ? value_at(u, from) : 0.0;
      from += plane_bytes;
      for_each_output<P, in>(g.unit[2], [&](auto out, const EntryPair<double>& e) {
        of_m[out] += e.mass * value;
        of_k[out] += e.stiffness * value;
      });
      if constexpr (in >= 0 && in < kItemNodes<P>) at[in] = value;
    });
    item.for_each_end(brick, 2, [&](auto out, const EntryPair<double>& e) {
      of_m[out] += e.mass * at[out];
      of_k[out] += e.stiffness * at[out];
    });
    int to = Items::place(entry) * kValueBytes;
    for_each_node<P>([&](auto out) {
      if (item.template has<out>()) {
        set_value(m, to, of_m[out]);
        set_value(k, to, of_k[out]);
      }
      to += row_bytes;
    });
  }
}

/// Along the middle axis: a = M m, b = M k + K m, [planes][middle][row]. 3 (p + 2) FMAs a node.
template <int dimension, int P>
__device__ __forceinline__ void middle_pass(const ResidentArguments<P>& g, const BlockBrick& brick,
                                            const PassItems<dimension, P>& items, int planes,
                                            const double* m, const double* k, double* a,
                                            double* b) {
  using Items = PassItems<dimension, P>;
  const int count = Items::middle_items(brick);
  const int from_bytes = brick.middle_stride * kValueBytes;
  const int to_bytes = brick.row * kValueBytes;
  for (int number = this_thread(); number < count; number += kResidentThreads) {
    const int entry = items.middle(number);
    if (Items::flags(entry) >= planes) continue;
    const LineItem<P> item = Items::line(entry);
    double of_a[kItemNodes<P>] = {};
    double of_b[kItemNodes<P>] = {};
    double m_at[kItemNodes<P>];
    double k_at[kItemNodes<P>];
    int from = Items::place(entry) * kValueBytes - P * from_bytes;
    for_each_of_window<P>([&](auto in) {
      const double of_m = item.template has<in>() ? value_at(m, from) : 0.0;
      const double of_k = item.template has<in>() ? value_at(k, from) : 0.0;
      from += from_bytes;
      for_each_output<P, in>(g.unit[1], [&](auto out, const EntryPair<double>& e) {
        of_a[out] += e.mass * of_m;
        of_b[out] += e.mass * of_k;
        of_b[out] += e.stiffness * of_m;
      });
      if constexpr (in >= 0 && in < kItemNodes<P>) {
        m_at[in] = of_m;
        k_at[in] = of_k;
      }
    });
    item.for_each_end(brick, 1, [&](auto out, const EntryPair<double>& e) {
      of_a[out] += e.mass * m_at[out];
      of_b[out] += e.mass * k_at[out] + e.stiffness * m_at[out];
    });
    int to = items.middle_to(number) * kValueBytes;
    for_each_node<P>([&](auto out) {
      if (item.template has<out>()) {
        set_value(a, to, of_a[out]);
        set_value(b, to, of_b[out]);
      }
      to += to_bytes;
    });
  }
}

/// Along x, for planes from `first_plane` on: q = K a + M b of the brick's cells; constrained nodes
/// have p, and 0 in all copies but one. Returns this thread's part of p.q. 2 (p + 2) FMAs a node.
template <int dimension, int P>
__device__ __forceinline__ double row_pass(const ResidentArguments<P>& g, const BlockBrick& brick,
                                           const PassItems<dimension, P>& items, int first_plane,
                                           int planes, const double* a, const double* b,
                                           const double* u, double* q) {
  using Items = PassItems<dimension, P>;
  const int count = Items::row_items(brick);
  const bool is_low_fixed = brick.first_free[0] > 0;
  const bool is_high_fixed = brick.last_free[0] < brick.nodes[0] - 1;
  double dot = 0.0;
  for (int number = this_thread(); number < count; number += kResidentThreads) {
    const int entry = items.row(number);
    const int flags = Items::flags(entry);
    const int z = flags >> 2;
    if (z >= planes) continue;
    const LineItem<P> item = Items::line(entry);
    const int start = Items::place(entry) * kValueBytes;
    double sum[kItemNodes<P>] = {};
    double a_at[kItemNodes<P>];
    double b_at[kItemNodes<P>];
    for_each_of_window<P>([&](auto in) {
      const double of_a = item.template has<in>() ? value_at(a, start + in * kValueBytes) : 0.0;
      const double of_b = item.template has<in>() ? value_at(b, start + in * kValueBytes) : 0.0;
      for_each_output<P, in>(g.unit[0], [&](auto out, const EntryPair<double>& e) {
        sum[out] += e.stiffness * of_a;
        sum[out] += e.mass * of_b;
      });
      if constexpr (in >= 0 && in < kItemNodes<P>) {
        a_at[in] = of_a;
        b_at[in] = of_b;
      }
    });
    item.for_each_end(brick, 0, [&](auto out, const EntryPair<double>& e) {
      sum[out] += e.stiffness * a_at[out] + e.mass * b_at[out];
    });
    const bool is_row_free = (flags & 1) != 0 && brick.is_free(2, first_plane + z);
    const bool is_row_owned = (flags & 2) != 0 && brick.owns(2, first_plane + z);
    const int to = first_plane * brick.plane * kValueBytes + start;
    for_each_node<P>([&](auto out) {
      if (!item.template has<out>()) return;
      const double value = value_at(u, to + out * kValueBytes);
      bool is_free = is_row_free;
      bool is_owned = is_row_owned;
      if constexpr (out % P == 0) {
        is_free = is_free && !(is_low_fixed && item.template is_first<out>()) &&
                  !(is_high_fixed && item.template is_last<out>());
        is_owned = is_owned && !(item.template is_first<out>() && brick.shares[0][0]);
      }
      const double product = is_free ? sum[out] : is_owned ? value : 0.0;
      set_value(q, to + out * kValueBytes, product);
      dot += value * product;
    });
  }
  return dot;
}

/// q = A p of the brick's cells, and this thread's part of p.q; all threads of the block. Shared
/// nodes still lack what other bricks add to them. `scratch` has scratch_values().
template <int dimension, int P>
__device__ __forceinline__ double apply_in_brick(const ResidentArguments<P>& g,
                                                 const BlockBrick& brick,
                                                 const PassItems<dimension, P>& items,
                                                 const double* u, double* q, double* scratch) {
  const int chunk = kItemNodes<P> * brick.plane;
  double* const a = scratch + brick.nodes[1] * brick.middle_stride;
  double* const b = a + chunk;
  double dot = 0.0;
  int segment = 0;
  for (int first = 0; first < brick.nodes[2]; first += kItemNodes<P>) {
    const int planes = min(kItemNodes<P>, brick.nodes[2] - first);
    if constexpr (dimension == 3) {
      // What the first pass leaves in q is read before the third one writes there.
      double* const m = q + first * brick.plane;
      outer_pass(g, brick, items, u, segment, m, scratch);
      __syncthreads();
      middle_pass(g, brick, items, planes, m, scratch, a, b);
      __syncthreads();
      dot += row_pass(g, brick, items, first, planes, a, b, u, q);
    } else {
      // Two buffers take turns, so that a chunk's first pass may begin before the last one ends.
      double* const m = scratch + (segment % 2 == 0 ? 0 : 2 * chunk);
      outer_pass(g, brick, items, u, segment, m, m + chunk);
      __syncthreads();
      dot += row_pass(g, brick, items, first, planes, m, m + chunk, u, q);
    }
    ++segment;
  }
  return dot;
}

}  // namespace tessera
