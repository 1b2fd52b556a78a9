// These shuffles sort the nodes of a row by cells, and back.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <array>
#include <bit>
#include <utility>

#include "mesh/index.hpp"
#include "mesh/lanes/lane_rows.hpp"
#include "mesh/lanes/lane_shuffles.hpp"
#include "mesh/lanes/simd.hpp"

namespace tessera {

/// Moves values up by a number of lanes that is known at run time only.
template <class T>
class LaneShift {
 public:
  explicit LaneShift(Index lanes) : lanes_(static_cast<int>(lanes)) {}

  /// The last lanes of `before`, then the first ones of v.
  [[gnu::always_inline]] Lanes<T> operator()(Lanes<T> before, Lanes<T> v) const {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == sizeof(double)) {
      const __m512i from = _mm512_add_epi64(_mm512_set_epi64(15, 14, 13, 12, 11, 10, 9, 8),
                                            _mm512_set1_epi64(-lanes_));
      return _mm512_permutex2var_pd(before, from, v);
    } else {
      const __m512i from = _mm512_add_epi32(
          _mm512_set_epi32(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16),
          _mm512_set1_epi32(-lanes_));
      return _mm512_permutex2var_ps(before, from, v);
    }
#elif defined(__AVX2__)
    // Both turned by as many lanes, by words of 32 bits.
    constexpr int kWords = kLanes<float> / kLanes<T>;
    const __m256i words = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    const __m256i from = _mm256_sub_epi32(words, _mm256_set1_epi32(lanes_ * kWords));
    const auto turned = [from](Lanes<T> lanes) {
      return _mm256_permutevar8x32_epi32(std::bit_cast<__m256i>(lanes), from);
    };
    const __m256i is_before = _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes_ * kWords), words);
    return std::bit_cast<Lanes<T>>(_mm256_blendv_epi8(turned(v), turned(before), is_before));
#else
    T values[2 * kLanes<T>];
    store_lanes<T>(before, values);
    store_lanes<T>(v, values + kLanes<T>);
    return load_lanes(values + kLanes<T> - lanes_);
#endif
  }

 private:
  int lanes_;
};

/// Lane l of v[i] and lane i of v[l] change places, kLanes vectors: bit by bit of their numbers.
template <class T>
[[gnu::always_inline]] inline void transpose(Lanes<T>* v) {
  const auto exchange = [v](auto bit) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes<T>; ++i) {
      if ((i & bit()) != 0) continue;
      const Lanes<T> a = v[i];
      const Lanes<T> b = v[i + bit()];
      v[i] = shuffle_lanes<T>(a, b, [](auto l) {
        constexpr int kBit = decltype(bit)::value;
        return (l() & kBit) == 0 ? l() : kLanes<T> + (l() ^ kBit);
      });
      v[i + bit()] = shuffle_lanes<T>(a, b, [](auto l) {
        constexpr int kBit = decltype(bit)::value;
        return (l() & kBit) == 0 ? (l() ^ kBit) : kLanes<T> + l();
      });
    }
  };
  exchange(std::integral_constant<int, 1>{});
  if constexpr (2 < kLanes<T>) exchange(std::integral_constant<int, 2>{});
  if constexpr (4 < kLanes<T>) exchange(std::integral_constant<int, 4>{});
  if constexpr (8 < kLanes<T>) exchange(std::integral_constant<int, 8>{});
}

/// Whether fewer shuffles sort rows of kLanes values, one from the first node of each cell.
template <class T, int P>
inline constexpr bool kSortsByTransposing = P > 4 && kLanes<T> == P + 1;

/// [kLanes][P] values, P fastest, in P vectors -> [P][kLanes].
template <class T, int P>
[[gnu::always_inline]] inline void to_cells(const Lanes<T>* nodes, Lanes<T>* cells) {
  if constexpr (P == 1) {
    cells[0] = nodes[0];
  } else if constexpr (P % 2 == 0) {
    Lanes<T> even[P / 2], odd[P / 2], even_cells[P / 2], odd_cells[P / 2];
#pragma GCC unroll 8
    for (int k = 0; k < P / 2; ++k) {
      even[k] = shuffle_lanes<T>(nodes[2 * k], nodes[2 * k + 1], [](auto l) { return 2 * l(); });
      odd[k] = shuffle_lanes<T>(nodes[2 * k], nodes[2 * k + 1], [](auto l) { return 2 * l() + 1; });
    }
    to_cells<T, P / 2>(even, even_cells);
    to_cells<T, P / 2>(odd, odd_cells);
#pragma GCC unroll 8
    for (int i = 0; i < P / 2; ++i) {
      cells[2 * i] = even_cells[i];
      cells[2 * i + 1] = odd_cells[i];
    }
  } else {
    std::array<Lanes<T>, P> pieces;
#pragma GCC unroll 8
    for (int k = 0; k < P; ++k) pieces[k] = nodes[k];
    [&]<int... i>(std::integer_sequence<int, i...>) {
      ((cells[i] = pick_lanes<FromPieces<P, kLanes<T>, i>, T>(pieces)), ...);
    }
    (std::make_integer_sequence<int, P>{});
  }
}

/// to_cells() of the row of kLanes P values at `row`; cells[P] may be written as well.
template <class T, int P>
[[gnu::always_inline]] inline void load_cells(const T* row, Lanes<T>* cells) {
  if constexpr (kSortsByTransposing<T, P>) {
#pragma GCC unroll 16
    for (int lane = 0; lane < kLanes<T>; ++lane) cells[lane] = load_lanes(row + lane * P);
    transpose<T>(cells);
  } else {
    Lanes<T> nodes[P];
#pragma GCC unroll 8
    for (int k = 0; k < P; ++k) nodes[k] = load_lanes(row + k * kLanes<T>);
    to_cells<T, P>(nodes, cells);
  }
}

/// [P][kLanes] -> [kLanes][P], P fastest: the inverse of to_cells().
template <class T, int P>
[[gnu::always_inline]] inline void to_nodes(const Lanes<T>* cells, Lanes<T>* nodes) {
  if constexpr (P == 1) {
    nodes[0] = cells[0];
  } else if constexpr (P % 2 == 0) {
    Lanes<T> even[P / 2], odd[P / 2], even_cells[P / 2], odd_cells[P / 2];
#pragma GCC unroll 8
    for (int i = 0; i < P / 2; ++i) {
      even_cells[i] = cells[2 * i];
      odd_cells[i] = cells[2 * i + 1];
    }
    to_nodes<T, P / 2>(even_cells, even);
    to_nodes<T, P / 2>(odd_cells, odd);
#pragma GCC unroll 8
    for (int k = 0; k < P / 2; ++k) {
      nodes[2 * k] =
          shuffle_lanes<T>(even[k], odd[k], [](auto l) { return l() / 2 + l() % 2 * kLanes<T>; });
      nodes[2 * k + 1] = shuffle_lanes<T>(
          even[k], odd[k], [](auto l) { return kLanes<T> / 2 + l() / 2 + l() % 2 * kLanes<T>; });
    }
  } else if constexpr (kSortsByTransposing<T, P>) {
    // By cells; of each vector the last lane is not wanted.
    Lanes<T> rows[kLanes<T>] = {};
#pragma GCC unroll 16
    for (int i = 0; i < P; ++i) rows[i] = cells[i];
    transpose<T>(rows);
    [&]<int... k>(std::integer_sequence<int, k...>) {
      ((nodes[k] = shuffle_lanes<T>(
            rows[k], rows[k + 1],
            [](auto l) { return l() < P - k ? l() + k : kLanes<T> + l() - (P - k); })),
       ...);
    }
    (std::make_integer_sequence<int, P>{});
  } else {
    std::array<Lanes<T>, P> by_cell;
#pragma GCC unroll 8
    for (int i = 0; i < P; ++i) by_cell[i] = cells[i];
    [&]<int... k>(std::integer_sequence<int, k...>) {
      ((nodes[k] = pick_lanes<FromNodes<P, kLanes<T>, k>, T>(by_cell)), ...);
    }
    (std::make_integer_sequence<int, P>{});
  }
}

}  // namespace tessera
