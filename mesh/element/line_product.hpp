// These are products of a 1D matrix with one folded line in registers, for sizes known at compile
// time.
#pragma once

#include "mesh/element/sum_factorization.hpp"

namespace tessera {

/// An EvenOddMatrix of compile-time size, by value: a copy on the stack that no store to a tensor
/// can change, so that its entries stay in registers from line to line.
template <class T, int R, int C>
struct LineMatrix {
  static constexpr int kRows = (R + 1) / 2;
  static constexpr int kColumns = (C + 1) / 2;
  T even[kRows][kColumns];
  T odd[kRows][kColumns];

  explicit LineMatrix(const EvenOddMatrix<T>& matrix) {
    for (int a = 0; a < kRows; ++a) {
      for (int b = 0; b < kColumns; ++b) {
        even[a][b] = matrix.even[a * kColumns + b];
        odd[a][b] = matrix.odd[a * kColumns + b];
      }
    }
  }
};

/// A line x of C values as sums and differences: even_b = x_b + x_{C-1-b} (the middle value alone
/// where C is odd), odd_b = x_b - x_{C-1-b}. As the result of products a folded line holds halves:
/// x_b = even_b + odd_b, x_{C-1-b} = even_b - odd_b.
template <class T, int C>
struct FoldedLine {
  Lanes<T> even[(C + 1) / 2] = {};
  Lanes<T> odd[C / 2 > 0 ? C / 2 : 1] = {};
};

/// Folds the line in[b stride], b < C.
template <class T, int C>
[[gnu::always_inline]] inline FoldedLine<T, C> fold(const Lanes<T>* in, int stride) {
  FoldedLine<T, C> line;
#pragma GCC unroll 8
  for (int b = 0; b < C / 2; ++b) {
    const Lanes<T> left = in[b * stride];
    const Lanes<T> right = in[(C - 1 - b) * stride];
    line.even[b] = left + right;
    line.odd[b] = left - right;
  }
  if constexpr (C % 2 == 1) line.even[C / 2] = in[C / 2 * stride];
  return line;
}

/// out[a stride] (+)= the unfolded line.
template <Store store = Store::assign, class T, int R>
[[gnu::always_inline]] inline void unfold(const FoldedLine<T, R>& line, Lanes<T>* out, int stride) {
  const auto write = [&](int a, Lanes<T> value) {
    if constexpr (store == Store::add) {
      out[a * stride] += value;
    } else {
      out[a * stride] = value;
    }
  };
#pragma GCC unroll 8
  for (int a = 0; a < R / 2; ++a) {
    write(a, line.even[a] + line.odd[a]);
    write(R - 1 - a, line.even[a] - line.odd[a]);
  }
  if constexpr (R % 2 == 1) write(R / 2, line.even[R / 2]);
}

/// out += A in: ceil(R/2) ceil(C/2) + floor(R/2) floor(C/2) multiply-adds.
template <Parity parity, class T, int R, int C>
[[gnu::always_inline]] inline void add_product(const LineMatrix<T, R, C>& A,
                                               const FoldedLine<T, C>& in, FoldedLine<T, R>& out) {
  constexpr bool kEven = parity == Parity::even;
#pragma GCC unroll 8
  for (int b = 0; b < (C + 1) / 2; ++b) {
#pragma GCC unroll 8
    for (int a = 0; a < (kEven ? (R + 1) / 2 : R / 2); ++a) {
      (kEven ? out.even : out.odd)[a] += A.even[a][b] * in.even[b];
    }
  }
#pragma GCC unroll 8
  for (int b = 0; b < C / 2; ++b) {
#pragma GCC unroll 8
    for (int a = 0; a < (kEven ? R / 2 : (R + 1) / 2); ++a) {
      (kEven ? out.odd : out.even)[a] += A.odd[a][b] * in.odd[b];
    }
  }
}

/// out += A^T in. The halves of A^T are the transposed halves of A, exchanged if A is odd.
template <Parity parity, class T, int R, int C>
[[gnu::always_inline]] inline void add_transposed_product(const LineMatrix<T, R, C>& A,
                                                          const FoldedLine<T, R>& in,
                                                          FoldedLine<T, C>& out) {
  constexpr bool kEven = parity == Parity::even;
#pragma GCC unroll 8
  for (int a = 0; a < (kEven ? (R + 1) / 2 : R / 2); ++a) {
#pragma GCC unroll 8
    for (int b = 0; b < (C + 1) / 2; ++b) {
      out.even[b] += A.even[a][b] * (kEven ? in.even : in.odd)[a];
    }
  }
#pragma GCC unroll 8
  for (int a = 0; a < (kEven ? R / 2 : (R + 1) / 2); ++a) {
#pragma GCC unroll 8
    for (int b = 0; b < C / 2; ++b) {
      out.odd[b] += A.odd[a][b] * (kEven ? in.odd : in.even)[a];
    }
  }
}

}  // namespace tessera
