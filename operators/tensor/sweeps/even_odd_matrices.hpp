// EvenOddLines are 1D matrices split for the even-odd decomposition.
#pragma once

#include "mesh/element/basis_1d.hpp"

namespace tessera {

/// A 1D matrix of R rows and C columns split for the even-odd decomposition, which halves the
/// multiplications (mesh/element/sum_factorization.hpp), as a kernel parameter. [row][column].
template <class T, int R, int C>
struct EvenOddLines {
  static constexpr int kHalfRows = (R + 1) / 2;
  static constexpr int kHalfColumns = (C + 1) / 2;
  T even[kHalfRows * kHalfColumns];
  T odd[kHalfRows * kHalfColumns];

  constexpr const T* even_row(int a) const { return even + a * kHalfColumns; }
  constexpr const T* odd_row(int a) const { return odd + a * kHalfColumns; }
};

/// Splits M[a][b] = entry(a, b) for even-odd.
template <class T, int R, int C, class F>
EvenOddLines<T, R, C> even_odd_lines(F&& entry) {
  using Lines = EvenOddLines<T, R, C>;
  Lines lines{};
  for (int a = 0; a < Lines::kHalfRows; ++a) {
    for (int b = 0; b < Lines::kHalfColumns; ++b) {
      const double left = entry(a, b);
      const double right = entry(a, C - 1 - b);
      lines.even[a * Lines::kHalfColumns + b] = static_cast<T>(0.5 * (left + right));
      lines.odd[a * Lines::kHalfColumns + b] = static_cast<T>(0.5 * (left - right));
    }
  }
  return lines;
}

/// Splits A, and A^T with row q of A times weight(q).
template <class T, int R, int C>
EvenOddLines<T, R, C> even_odd_lines(const Matrix1D& A) {
  return even_odd_lines<T, R, C>([&](int a, int b) { return A(a, b); });
}
template <class T, int R, int C, class Weight>
EvenOddLines<T, C, R> even_odd_transposed(const Matrix1D& A, Weight&& weight) {
  return even_odd_lines<T, C, R>([&](int b, int a) { return weight(a) * A(a, b); });
}

}  // namespace tessera
