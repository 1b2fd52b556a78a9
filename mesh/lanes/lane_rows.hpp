// These functions load a row of neighboring cells into SIMD lanes, and add it back.
#pragma once

#include <array>
#include <cstring>
#include <utility>

#include "mesh/lanes/lane_shuffles.hpp"
#include "mesh/lanes/simd.hpp"

namespace tessera {

/// Where lane l of a vector comes from: entry `position` of source vector `source`.
struct LaneOrigin {
  int source;
  int position;
};

/// Picks the lanes that come from source 0 or source 1.
template <class Origin, class T, std::size_t... lane>
[[gnu::always_inline]] inline Lanes<T> pick_two(Lanes<T> first, Lanes<T> second,
                                                std::index_sequence<lane...>) {
  return __builtin_shufflevector(
      first, second,
      (Origin::of(lane).source == 1 ? kLanes<T> + Origin::of(lane).position
                                    : Origin::of(lane).position)...);
}

/// Replaces the lanes of `values` that come from this source.
template <class Origin, int source, class T, std::size_t... lane>
[[gnu::always_inline]] inline Lanes<T> replace_from(Lanes<T> values, Lanes<T> from,
                                                    std::index_sequence<lane...>) {
  constexpr bool kAny = ((Origin::of(lane).source == source) || ...);
  if constexpr (!kAny) return values;
  return __builtin_shufflevector(
      values, from,
      (Origin::of(lane).source == source ? kLanes<T> + Origin::of(lane).position
                                         : static_cast<int>(lane))...);
}

/// The vector whose lane l is sources[Origin::of(l).source][Origin::of(l).position]: count - 1
/// two-vector shuffles.
template <class Origin, class T, std::size_t count>
[[gnu::always_inline]] inline Lanes<T> pick_lanes(const std::array<Lanes<T>, count>& sources) {
  if constexpr (count == 1) {
    return sources[0];
  } else {
    const auto lanes = std::make_index_sequence<kLanes<T>>{};
    Lanes<T> values = pick_two<Origin, T>(sources[0], sources[1], lanes);
    [&]<std::size_t... rest>(std::index_sequence<rest...>) __attribute__((always_inline)) {
      ((values =
            replace_from<Origin, static_cast<int>(rest) + 2, T>(values, sources[rest + 2], lanes)),
       ...);
    }
    (std::make_index_sequence<count - 2>{});
    return values;
  }
}

/// Where node `node` of cell `lane` lies in the pieces of a row.
template <int p, int lanes, int node>
struct FromPieces {
  static constexpr LaneOrigin of(std::size_t lane) {
    const int entry = static_cast<int>(lane) * p + node;
    return {entry / lanes, entry % lanes};
  }
};

/// Where entry `lane` of piece `piece` of a row lies among the nodes of the cells.
template <int p, int lanes, int piece>
struct FromNodes {
  static constexpr LaneOrigin of(std::size_t lane) {
    const int entry = piece * lanes + static_cast<int>(lane);
    return {entry % p, entry / p};
  }
};

/// u[i][lane] = row[p lane + i], i = 0 .. p, for kLanes<T> neighboring cells on one lattice row.
/// The row is loaded as p vectors and one value, which are sorted in registers.
template <int p, class T>
[[gnu::always_inline]] inline void load_cell_row(const T* row, Lanes<T>* u) {
  constexpr int kWidth = kLanes<T>;
  std::array<Lanes<T>, p> pieces;
  for (int k = 0; k < p; ++k) std::memcpy(&pieces[k], row + k * kWidth, sizeof(Lanes<T>));
  [&]<std::size_t... node>(std::index_sequence<node...>) __attribute__((always_inline)) {
    ((u[node] = pick_lanes<FromPieces<p, kWidth, static_cast<int>(node)>, T>(pieces)), ...);
  }
  (std::make_index_sequence<p>{});
  u[p] = shift_down<T>(u[0], broadcast(row[p * kWidth]));
}

/// Calls put(k, piece k of the row that has v[i][lane] at p lane + i) for its p pieces, where node
/// p of a lane is added to node 0 of the next; node p of the last lane is in none of them.
template <int p, class T, class Put>
[[gnu::always_inline]] inline void for_each_piece(const Lanes<T>* v, Put&& put) {
  constexpr int kWidth = kLanes<T>;
  std::array<Lanes<T>, p> nodes;
  nodes[0] = v[0] + shift_up<T>(Lanes<T>{}, v[p]);
  for (int i = 1; i < p; ++i) nodes[i] = v[i];
  [&]<std::size_t... piece>(std::index_sequence<piece...>) __attribute__((always_inline)) {
    (put(static_cast<int>(piece),
         pick_lanes<FromNodes<p, kWidth, static_cast<int>(piece)>, T>(nodes)),
     ...);
  }
  (std::make_index_sequence<p>{});
}

/// row[p lane + i] += v[i][lane], i = 0 .. p, where node p of a lane is node 0 of the next.
template <int p, class T>
[[gnu::always_inline]] inline void add_cell_row(const Lanes<T>* v, T* row) {
  constexpr int kWidth = kLanes<T>;
  for_each_piece<p, T>(
      v, [&](int k, Lanes<T> piece) __attribute__((always_inline)) {
        Lanes<T> sum;
        std::memcpy(&sum, row + k * kWidth, sizeof(sum));
        sum += piece;
        std::memcpy(row + k * kWidth, &sum, sizeof(sum));
      });
  row[p * kWidth] += v[p][kWidth - 1];
}

/// As add_cell_row() to a row that holds `first` and `last` at its ends and 0 between them,
/// whatever is there.
template <int p, class T>
[[gnu::always_inline]] inline void set_cell_row(const Lanes<T>* v, T first, T last, T* row) {
  constexpr int kWidth = kLanes<T>;
  for_each_piece<p, T>(
      v, [&](int k, Lanes<T> piece) __attribute__((always_inline)) {
        std::memcpy(row + k * kWidth, &piece, sizeof(piece));
      });
  row[0] += first;
  row[p * kWidth] = v[p][kWidth - 1] + last;
}

}  // namespace tessera
