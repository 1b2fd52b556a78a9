// These are products of one cell's 1D matrices with lines.
#pragma once

#include <algorithm>

#include "mesh/index.hpp"
#include "mesh/lanes/simd.hpp"

namespace tessera {

/// A line of values: entry 0 lies apart, entry j > 0 at rest + j stride.
template <class T>
struct Line {
  const Lanes<T>* first;
  const Lanes<T>* rest;
  Index stride;

  Lanes<T> operator[](int j) const { return j == 0 ? *first : rest[j * stride]; }
};

/// Products of one cell's matrices M and K with lines, n = p + 1 values each, C = T or Lanes<T>.
///
/// Rows of K sum to 0, so that K u = K (u - u_0), without column 0: of the values themselves
/// rounding would leave a reaction term, of one sign in all cells where u is about constant.
/// @tparam P degree, 0 = known at run time only.
template <class T, class C, int P>
struct FullCell {
  const C* mass;
  const C* stiffness;
  int degree;

  int size() const { return P > 0 ? P + 1 : degree + 1; }
  // Where loops are not unrolled, the branch costs more than the column.
  static constexpr bool reads_stiffness(int column) { return P == 0 || column > 0; }

  /// y0 = M u, y1 = K u.
  [[gnu::always_inline]] void mass_and_stiffness(const Lanes<T>* u, Lanes<T>* y0,
                                                 Lanes<T>* y1) const {
    const int n = size();
#pragma GCC unroll 9
    for (int i = 0; i < n; ++i) y0[i] = y1[i] = Lanes<T>{};
#pragma GCC unroll 9
    for (int j = 0; j < n; ++j) {
      const Lanes<T> d_j = u[j] - u[0];
#pragma GCC unroll 9
      for (int i = 0; i < n; ++i) {
        y0[i] += mass[j * n + i] * u[j];
        if (reads_stiffness(j)) y1[i] += stiffness[j * n + i] * d_j;
      }
    }
  }
  /// y0 = M v + K u, y1 = M u.
  [[gnu::always_inline]] void sum_and_mass(Line<T> u, Line<T> v, Lanes<T>* y0, Lanes<T>* y1) const {
    const int n = size();
    const Lanes<T> u_0 = u[0];
#pragma GCC unroll 9
    for (int i = 0; i < n; ++i) y0[i] = y1[i] = Lanes<T>{};
#pragma GCC unroll 9
    for (int j = 0; j < n; ++j) {
      const Lanes<T> u_j = u[j];
      const Lanes<T> v_j = v[j];
      const Lanes<T> d_j = u_j - u_0;
#pragma GCC unroll 9
      for (int i = 0; i < n; ++i) {
        Lanes<T> sum = y0[i] + mass[j * n + i] * v_j;
        if (reads_stiffness(j)) sum += stiffness[j * n + i] * d_j;
        y0[i] = sum;
        y1[i] += mass[j * n + i] * u_j;
      }
    }
  }
  /// y = M v + K u.
  [[gnu::always_inline]] void sum(Line<T> u, Line<T> v, Lanes<T>* y) const {
    const int n = size();
    const Lanes<T> u_0 = u[0];
#pragma GCC unroll 9
    for (int i = 0; i < n; ++i) y[i] = Lanes<T>{};
#pragma GCC unroll 9
    for (int j = 0; j < n; ++j) {
      const Lanes<T> v_j = v[j];
      const Lanes<T> d_j = u[j] - u_0;
#pragma GCC unroll 9
      for (int i = 0; i < n; ++i) {
        Lanes<T> sum = y[i] + mass[j * n + i] * v_j;
        if (reads_stiffness(j)) sum += stiffness[j * n + i] * d_j;
        y[i] = sum;
      }
    }
  }
};

/// Where a kernel has its matrices: in memory, or copied, so that the compiler knows that stores of
/// results do not change them and keeps them in registers as far as there are some.
enum class Entries { in_memory, copied };

/// The same with centrosymmetric matrices, whose even and odd halves act on u_j + u_{p-j} and
/// u_j - u_{p-j}: half the multiplications (mesh/element/sum_factorization.hpp). kEven = ceil((p +
/// 1) / 2). Constants have no odd half. The even half of K takes differences from twice the middle
/// node or from the middle pair, whose column is not read.
template <class T, int P, Entries kEntries>
struct HalfCell {
  static constexpr int kPairs = (P + 1) / 2;
  static constexpr int kEven = P + 1 - kPairs;
  static constexpr int kReference = kEven - 1;
  static constexpr int kEvenSize = kEven * kEven;
  static constexpr int kOddSize = kPairs * kPairs;

  const T* source;
  T copies[kEntries == Entries::copied ? 2 * (kEvenSize + kOddSize) : 1];

  explicit HalfCell(const T* halves) : source(halves) {
    if constexpr (kEntries == Entries::copied) {
      std::copy_n(halves, 2 * (kEvenSize + kOddSize), copies);
    }
  }

  const T* entries() const { return kEntries == Entries::copied ? copies : source; }
  const T* even_mass() const { return entries(); }  // [kEven][kEven], column by column
  const T* even_stiffness() const { return entries() + kEvenSize; }
  const T* odd_mass() const { return entries() + 2 * kEvenSize; }  // [kPairs][kPairs]
  const T* odd_stiffness() const { return entries() + 2 * kEvenSize + kOddSize; }

  // y from its even and odd half.
  [[gnu::always_inline]] static void join(const Lanes<T>* even, const Lanes<T>* odd, Lanes<T>* y) {
#pragma GCC unroll 8
    for (int i = 0; i < kPairs; ++i) {
      y[i] = even[i] + odd[i];
      y[P - i] = even[i] - odd[i];
    }
    if constexpr (kEven > kPairs) y[kPairs] = even[kPairs];
  }
  template <class U>
  [[gnu::always_inline]] static Lanes<T> reference(const U& u) {
    return u[kReference] + u[P - kReference];
  }
  template <int N>
  [[gnu::always_inline]] static void add(const T* column, Lanes<T> x, Lanes<T>* y) {
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) y[i] += column[i] * x;
  }

  [[gnu::always_inline]] void mass_and_stiffness(const Lanes<T>* u, Lanes<T>* y0,
                                                 Lanes<T>* y1) const {
    Lanes<T> even0[kEven] = {}, even1[kEven] = {}, odd0[kPairs] = {}, odd1[kPairs] = {};
    const Lanes<T> e_ref = reference(u);
#pragma GCC unroll 8
    for (int j = 0; j < kPairs; ++j) {
      const Lanes<T> e = u[j] + u[P - j];
      const Lanes<T> o = u[j] - u[P - j];
      add<kEven>(even_mass() + j * kEven, e, even0);
      if (j < kReference) add<kEven>(even_stiffness() + j * kEven, e - e_ref, even1);
      add<kPairs>(odd_mass() + j * kPairs, o, odd0);
      add<kPairs>(odd_stiffness() + j * kPairs, o, odd1);
    }
    if constexpr (kEven > kPairs) add<kEven>(even_mass() + kPairs * kEven, u[kPairs], even0);
    join(even0, odd0, y0);
    join(even1, odd1, y1);
  }

  // First all that is even, then all that is odd: fewer values at a time than registers.
  [[gnu::always_inline]] void sum_and_mass(Line<T> u, Line<T> v, Lanes<T>* y0, Lanes<T>* y1) const {
    Lanes<T> even0[kEven] = {}, even1[kEven] = {}, odd0[kPairs] = {}, odd1[kPairs] = {};
    const Lanes<T> u_ref = reference(u);
#pragma GCC unroll 8
    for (int j = 0; j < kEven; ++j) {
      const bool is_pair = j < kPairs;
      const Lanes<T> u_j = is_pair ? u[j] + u[P - j] : u[j];
      const Lanes<T> v_j = is_pair ? v[j] + v[P - j] : v[j];
      add<kEven>(even_mass() + j * kEven, u_j, even1);
      add<kEven>(even_mass() + j * kEven, v_j, even0);
      if (j < kReference) add<kEven>(even_stiffness() + j * kEven, u_j - u_ref, even0);
    }
#pragma GCC unroll 8
    for (int j = 0; j < kPairs; ++j) {
      const Lanes<T> u_j = u[j] - u[P - j];
      const Lanes<T> v_j = v[j] - v[P - j];
      add<kPairs>(odd_mass() + j * kPairs, u_j, odd1);
      add<kPairs>(odd_mass() + j * kPairs, v_j, odd0);
      add<kPairs>(odd_stiffness() + j * kPairs, u_j, odd0);
    }
    join(even0, odd0, y0);
    join(even1, odd1, y1);
  }

  [[gnu::always_inline]] void sum(Line<T> u, Line<T> v, Lanes<T>* y) const {
    Lanes<T> even[kEven] = {}, odd[kPairs] = {};
    const Lanes<T> u_ref = reference(u);
#pragma GCC unroll 8
    for (int j = 0; j < kPairs; ++j) {
      const Lanes<T> ul = u[j], ur = u[P - j], vl = v[j], vr = v[P - j];
      add<kEven>(even_mass() + j * kEven, vl + vr, even);
      add<kPairs>(odd_mass() + j * kPairs, vl - vr, odd);
      if (j < kReference) add<kEven>(even_stiffness() + j * kEven, ul + ur - u_ref, even);
      add<kPairs>(odd_stiffness() + j * kPairs, ul - ur, odd);
    }
    if constexpr (kEven > kPairs) add<kEven>(even_mass() + kPairs * kEven, v[kPairs], even);
    join(even, odd, y);
  }
};

}  // namespace tessera
