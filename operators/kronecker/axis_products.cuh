// An AxisProducts multiplies lines along x and y by the assembled matrices, ends included.
#pragma once

#include "operators/cells/value_pair.cuh"
#include "operators/kronecker/passes.cuh"

namespace tessera {

/// Whether some of the nodes of a line that end its axis may be free: there A differs from what it
/// is inside.
enum class Ends { constrained, free };

/// Products of windows [(C + 1) p + 1] of x, as those of `passes.cuh`, for the nodes that C cells
/// from `cell` on own.
template <class T, int P, KroneckerCells kind>
struct AxisProducts {
  const KroneckerArguments<T, P>& g;

  static constexpr bool kDifferences = kTakesDifferences<T>;
  static constexpr bool is_extended = kDifferences && kind != KroneckerCells::different;
  // Whether the matrices along y have the ratio and the reaction.
  static constexpr bool is_folded = !kDifferences && kind != KroneckerCells::different;

  __device__ __forceinline__ bool is_free(int d, int node) const {
    return node >= g.axis[d].first_free && node <= g.axis[d].last_free;
  }
  /// Whether the first node of one of `count` cells, or of the one after them, ends an axis and is
  /// free.
  __device__ __forceinline__ bool has_free_end(int d, int cell, int count) const {
    return (cell <= 0 && g.axis[d].first_free == 0) ||
           (cell + count >= g.axis[d].cells && g.axis[d].last_free == g.axis[d].nodes - 1);
  }

  /// v1 = M w, v2 = ratio K w + r M w along y; changes w. `rows` are those of the cells.
  template <Ends ends, int C, class Rows>
  __device__ __forceinline__ void along_y(const Rows& rows, int cell, T* w, T* v1, T* v2) const {
    if constexpr (is_extended && ends == Ends::free) extend_ends<C>(1, cell, w);
    both_products<P, C>(rows, w, v1, v2);
    if constexpr (ends == Ends::free) {
      for_each_end<C>(1, cell, [&](int c, int side) {
        const T end = w[(c + 1) * P];
        if constexpr (kind != KroneckerCells::different) {
          v1[c * P] -= g.beyond_y.mass * end;
          v2[c * P] -= g.beyond_y.stiffness * end;
        }
        v2[c * P] += (is_folded ? g.ratio : T{1}) * g.axis[1].end_term[side] * end;
      });
    }
    if constexpr (!is_folded) {
#pragma unroll
      for (int i = 0; i < C * P; ++i) v2[i] = g.ratio * v2[i] + g.reaction * v1[i];
    }
  }

  /// a = K v1 + M v2, b = M v1 along x; v1(i) and v2(i) are entries i of the windows.
  template <Ends ends, int C, class Rows, class First, class Second>
  __device__ __forceinline__ void along_x(const Rows& rows, int cell, First&& v1, Second&& v2, T* a,
                                          T* b) const {
    constexpr int kWindow = (C + 1) * P + 1;
    T u[kWindow];
    const auto load_window = [&](auto&& values) {
#pragma unroll
      for (int i = 0; i < kWindow; ++i) u[i] = values(i);
      if constexpr (is_extended && ends == Ends::free) extend_ends<C>(0, cell, u);
    };
    load_window(v1);
    both_products<P, C>(rows, u, b, a);
    load_window(v2);
    add_mass_product<P, C>(rows, u, a);
    correct_ends_along_x<ends, C>(cell, v1, v2, a, b);
  }

  /// The same of pairs in memory: v[i] are both entries i of the windows.
  template <Ends ends, int C, class Rows>
  __device__ __forceinline__ void along_x(const Rows& rows, int cell, const ValuePair<T>* v, T* a,
                                          T* b) const {
    constexpr int kWindow = (C + 1) * P + 1;
    if constexpr (Rows::is_symmetric || (is_extended && ends == Ends::free)) {
      ValuePair<T> u[kWindow];
#pragma unroll
      for (int i = 0; i < kWindow; ++i) u[i] = v[i];
      along_x<ends, C>(
          rows, cell, [&](int i) { return u[i].x; }, [&](int i) { return u[i].y; }, a, b);
    } else {
      // Pair by pair, so that the windows take no registers.
      const T reference = kDifferences ? v[P].x : T{0};
#pragma unroll
      for (int i = 0; i < kWindow; ++i) {
        const ValuePair<T> u = v[i];
        const T from = u.x - reference;
        for_each_row_of<P, C>(i, [&](int c, int out, int entry, bool is_first) {
          const EntryPair<T> e = rows(c, entry);
          b[out] = is_first ? e.mass * u.x : b[out] + e.mass * u.x;
          a[out] = is_first ? e.stiffness * from : a[out] + e.stiffness * from;
          a[out] += e.mass * u.y;
        });
      }
      correct_ends_along_x<ends, C>(
          cell, [&](int i) { return v[i].x; }, [&](int i) { return v[i].y; }, a, b);
    }
  }

 private:
  // Calls f(c, side) for those of C cells from `cell` on whose first node ends axis d.
  template <int C, class F>
  __device__ __forceinline__ void for_each_end(int d, int cell, F&& f) const {
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const int side = cell + c == 0 ? 0 : cell + c == g.axis[d].cells ? 1 : -1;
      if (side >= 0) f(c, side);
    }
  }
  // Takes from a and b what there is not beyond an end, and adds the end's own term.
  template <Ends ends, int C, class First, class Second>
  __device__ __forceinline__ void correct_ends_along_x(int cell, First&& v1, Second&& v2, T* a,
                                                       T* b) const {
    if constexpr (ends == Ends::constrained) return;
    for_each_end<C>(0, cell, [&](int c, int side) {
      const int end = (c + 1) * P;
      if constexpr (kind != KroneckerCells::different) {
        b[c * P] -= g.beyond.mass * v1(end);
        a[c * P] -= g.beyond.stiffness * v1(end) + g.beyond.mass * v2(end);
      }
      a[c * P] += g.axis[0].end_term[side] * v1(end);
    });
  }
  // Gives a window of C cells beyond an end the end's value.
  template <int C>
  __device__ __forceinline__ void extend_ends(int d, int cell, T* window) const {
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const T end = window[(c + 1) * P];
      // Selections, as the compiler keeps no window in registers that is written in branches.
#pragma unroll
      for (int j = 1; j <= P; ++j) {
        T& below = window[(c + 1) * P - j];
        T& above = window[(c + 1) * P + j];
        below = cell + c == 0 ? end : below;
        above = cell + c == g.axis[d].cells ? end : above;
      }
    }
  }
};

}  // namespace tessera
