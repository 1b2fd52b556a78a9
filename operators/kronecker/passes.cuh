// These device functions multiply band matrices by windows of values in registers.
#pragma once

#include "operators/kronecker/arguments.cuh"

namespace tessera {

/// Whether all rows of the assembled matrices are symmetric about their nodes, where cells are
/// alike.
constexpr bool has_symmetric_rows(int p) { return p <= 2; }

/// Rows of the assembled matrices of an axis whose cells are alike, on unit cells: constants that
/// are the same for every thread, cell and axis. Entries are counted as in AxisFactors.
template <class T, int P>
struct UnitRows {
  const UnitMatrices<T, P>& unit;

  static constexpr bool is_symmetric = has_symmetric_rows(P);
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
  static constexpr bool is_symmetric = false;
  __device__ __forceinline__ EntryPair<T> operator()(int cell, int entry) const {
    return table[cell * cell_stride + entry * entry_stride];
  }
};

/// The row of a node that an item owns: the number of its first entry, how many it has, and the
/// place in the window of the first one's value. Of a struct of the three, nvcc does not unroll the
/// loops below, and the kernels are a quarter to a half as fast.
constexpr int first_entry(int p, int node) {
  return node % p == 0 ? 0 : 2 * p + 1 + (node % p - 1) * (p + 1);
}
constexpr int entry_count(int p, int node) { return node % p == 0 ? 2 * p + 1 : p + 1; }
constexpr int first_place(int p, int node) { return node - node % p + (node % p == 0 ? 0 : p); }

/// Calls f(cell, output, entry of the output's row, place in w, whether it is the row's first) for
/// the nodes that C cells own. The window w is [(C + 1) p + 1] nodes from p before the first of
/// them.
template <int P, int C, class F>
__device__ __forceinline__ void for_each_row_entry(F&& f) {
#pragma unroll
  for (int n = 0; n < C * P; ++n) {
    const int first = first_entry(P, n);
    const int count = entry_count(P, n);
#pragma unroll
    for (int j = 0; j < count; ++j) f(n / P, n, first + j, first_place(P, n) + j, j == 0);
  }
}

/// The same for one place in w: calls f(cell, output, entry, whether it is the output's first) for
/// the nodes that this value is part of.
template <int P, int C, class F>
__device__ __forceinline__ void for_each_row_of(int place, F&& f) {
#pragma unroll
  for (int n = 0; n < C * P; ++n) {
    const int j = place - first_place(P, n);
    if (j >= 0 && j < entry_count(P, n)) f(n / P, n, first_entry(P, n) + j, j == 0);
  }
}

/// Rows that are symmetric about their nodes take the sums of two values each:
/// calls f(output, entry of the node itself, its place in w), and then g(output, entry, places of
/// two values that have this entry).
template <int P, int C, class F, class G>
__device__ __forceinline__ void for_each_row_pair(F&& f, G&& g) {
#pragma unroll
  for (int n = 0; n < C * P; ++n) {
    const int i = n % P;
    const int diagonal = i == 0 ? P : 2 * P + 1 + (i - 1) * (P + 1) + i;
    const int at = n + P;
    f(n, diagonal, at);
#pragma unroll
    for (int j = 1; j <= (i == 0 ? P : P - i); ++j) g(n, diagonal + j, at - j, at + j);
  }
}

/// m = M w and k = K w for the C p nodes that C cells own: 2 C p (p + 2) FMAs. Differences are
/// those to the first of these nodes, in rows that are symmetric to the node itself.
template <int P, int C, class T, class Rows>
__device__ __forceinline__ void both_products(const Rows& rows, const T* w, T* m, T* k) {
  if constexpr (Rows::is_symmetric) {
    for_each_row_pair<P, C>(
        [&](int out, int entry, int at) {
          m[out] = rows(0, entry).mass * w[at];
          k[out] = kTakesDifferences<T> ? T{0} : rows(0, entry).stiffness * w[at];
        },
        [&](int out, int entry, int before, int behind) {
          const EntryPair<T> e = rows(0, entry);
          const T sum = w[before] + w[behind];
          m[out] += e.mass * sum;
          k[out] += e.stiffness * (kTakesDifferences<T> ? sum - 2 * w[out + P] : sum);
        });
    return;
  }
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
  if constexpr (Rows::is_symmetric) {
    for_each_row_pair<P, C>(
        [&](int out, int entry, int at) { sum[out] += rows(0, entry).mass * w[at]; },
        [&](int out, int entry, int before, int behind) {
          sum[out] += rows(0, entry).mass * (w[before] + w[behind]);
        });
    return;
  }
  for_each_row_entry<P, C>(
      [&](int c, int out, int entry, int in, bool) { sum[out] += rows(c, entry).mass * w[in]; });
}

}  // namespace tessera
