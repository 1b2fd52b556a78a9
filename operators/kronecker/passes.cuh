// These device functions multiply band matrices by windows of values in registers.
#pragma once

#include "operators/kronecker/arguments.cuh"

namespace tessera {

/// Rows of the assembled matrices of an axis whose cells are alike, on unit cells: constants that
/// are the same for every thread, cell and axis. Entries are counted as in AxisFactors.
template <class T, int P>
struct UnitRows {
  const UnitMatrices<T, P>& unit;

  static constexpr int place(int entry) {
    const int i = entry < 2 * P + 1 ? 0 : (entry - (2 * P + 1)) / (P + 1) + 1;
    const int j = entry < 2 * P + 1 ? entry - P : (entry - (2 * P + 1)) % (P + 1);
    return j < 0 ? distinct_entry(P, P, j + P) : distinct_entry(P, i, j);
  }
  __device__ __forceinline__ EntryPair<T> operator()(int /*cell*/, int entry) const {
    return entry == P ? unit.vertex : unit.entries[place(entry)];
  }
};

/// Rows in shared memory: entry e of cell c at table[c * cell_stride + e * entry_stride].
template <class T, int cell_stride, int entry_stride>
struct TableRows {
  const EntryPair<T>* table;
  __device__ __forceinline__ EntryPair<T> operator()(int cell, int entry) const {
    return table[cell * cell_stride + entry * entry_stride];
  }
};

/// Calls f(cell, output, entry of the output's row, place in w, whether it is the row's first) for
/// the nodes that C cells own. The window w is [(C + 1) p + 1] nodes from p before the first of
/// them.
template <int P, int C, class F>
__device__ __forceinline__ void for_each_row_entry(F&& f) {
#pragma unroll
  for (int n = 0; n < C * P; ++n) {
    const int i = n % P;
    const int first = i == 0 ? 0 : 2 * P + 1 + (i - 1) * (P + 1);
    const int count = i == 0 ? 2 * P + 1 : P + 1;
#pragma unroll
    for (int j = 0; j < count; ++j) f(n / P, n, first + j, n - i + (i == 0 ? 0 : P) + j, j == 0);
  }
}

/// m = M w and k = K w for the C p nodes that C cells own: 2 C p (p + 2) FMAs. Differences are
/// those to the first of these nodes.
template <int P, int C, class T, class Rows>
__device__ __forceinline__ void both_products(const Rows& rows, const T* w, T* m, T* k) {
  const T reference = kTakesDifferences<T> ? w[P] : T{0};
  for_each_row_entry<P, C>([&](int c, int out, int entry, int in, bool is_first) {
    const EntryPair<T> e = rows(c, entry);
    m[out] = is_first ? e.mass * w[in] : m[out] + e.mass * w[in];
    const T from = w[in] - reference;
    k[out] = is_first ? e.stiffness * from : k[out] + e.stiffness * from;
  });
}

/// sum += M w for the C p nodes that C cells own: C p (p + 2) FMAs.
template <int P, int C, class T, class Rows>
__device__ __forceinline__ void add_mass_product(const Rows& rows, const T* w, T* sum) {
  for_each_row_entry<P, C>(
      [&](int c, int out, int entry, int in, bool) { sum[out] += rows(c, entry).mass * w[in]; });
}

}  // namespace tessera
