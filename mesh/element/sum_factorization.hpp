// These are contractions of a tensor with a 1D matrix, axis by axis, by even-odd decomposition.
#pragma once

#include <vector>

#include "mesh/element/basis_1d.hpp"
#include "mesh/lanes/simd.hpp"

namespace tessera {

/// How a 1D matrix changes when both of its indices are reversed. As nodes and points are
/// symmetric, M[r-1-a][c-1-b] = M[a][b] (even: B) or -M[a][b] (odd: derivatives G and D).
enum class Parity { even, odd };

/// A 1D matrix split for the even-odd decomposition (Solomonoff 1992; Kopriva 2009, section 3.5.3),
/// which halves the multiplications: with e_b = x_b + x_{c-1-b} and o_b = x_b - x_{c-1-b},
/// y_a = (E e)_a + (O o)_a and y_{r-1-a} = +-((E e)_a - (O o)_a).
///
/// `even` and `odd` are [ceil(rows / 2)][ceil(columns / 2)], column index fastest.
template <class T>
struct EvenOddMatrix {
  int rows = 0;
  int columns = 0;
  std::vector<T> even;
  std::vector<T> odd;
};

/// Splits a matrix that has either parity.
template <class T>
EvenOddMatrix<T> split_even_odd(const Matrix1D& matrix) {
  const int half_rows = (matrix.rows + 1) / 2;
  const int half_columns = (matrix.columns + 1) / 2;
  EvenOddMatrix<T> split{matrix.rows, matrix.columns, {}, {}};
  for (int a = 0; a < half_rows; ++a) {
    for (int b = 0; b < half_columns; ++b) {
      const double left = matrix(a, b);
      const double right = matrix(a, matrix.columns - 1 - b);
      split.even.push_back(static_cast<T>(0.5 * (left + right)));
      split.odd.push_back(static_cast<T>(0.5 * (left - right)));
    }
  }
  return split;
}

/// The transpose of a 1D matrix.
inline Matrix1D transpose(const Matrix1D& matrix) {
  Matrix1D result{matrix.columns, matrix.rows, std::vector<double>(matrix.entries.size())};
  for (int a = 0; a < matrix.rows; ++a) {
    for (int b = 0; b < matrix.columns; ++b) {
      result.entries[b * matrix.rows + a] = matrix(a, b);
    }
  }
  return result;
}

enum class Store { assign, add };

/// out[a stride] (+)= sum_b M[a][b] in[b stride]: one line of one axis.
/// R and C are rows and columns where they are known at compile time, else 0.
template <int R, int C, Parity parity, Store store, class T>
[[gnu::always_inline]] inline void contract_line(const EvenOddMatrix<T>& matrix, const Lanes<T>* in,
                                                 Lanes<T>* out, int stride) {
  const int rows = R > 0 ? R : matrix.rows;
  const int columns = C > 0 ? C : matrix.columns;
  const int pairs = columns / 2;
  const int half_columns = (columns + 1) / 2;
  constexpr int kLine = C > 0 ? (C + 1) / 2 : kMaxPointsPerAxis / 2;
  Lanes<T> e[kLine];
  Lanes<T> o[kLine];
#pragma GCC unroll 8
  for (int b = 0; b < pairs; ++b) {
    const Lanes<T> left = in[b * stride];
    const Lanes<T> right = in[(columns - 1 - b) * stride];
    e[b] = left + right;
    o[b] = left - right;
  }
  if (columns % 2 == 1) e[pairs] = in[pairs * stride];
  const T* even_row = matrix.even.data();
  const T* odd_row = matrix.odd.data();
  const auto write = [&](int a, Lanes<T> value) {
    if constexpr (store == Store::add) {
      out[a * stride] += value;
    } else {
      out[a * stride] = value;
    }
  };
#pragma GCC unroll 8
  for (int a = 0; a < rows / 2; ++a) {
    Lanes<T> even_sum = even_row[a * half_columns] * e[0];
#pragma GCC unroll 8
    for (int b = 1; b < half_columns; ++b) even_sum += even_row[a * half_columns + b] * e[b];
    Lanes<T> odd_sum{};
    if (pairs > 0) odd_sum = odd_row[a * half_columns] * o[0];
#pragma GCC unroll 8
    for (int b = 1; b < pairs; ++b) odd_sum += odd_row[a * half_columns + b] * o[b];
    write(a, even_sum + odd_sum);
    write(rows - 1 - a, parity == Parity::even ? even_sum - odd_sum : odd_sum - even_sum);
  }
  if (rows % 2 == 1) {
    const int a = rows / 2;
    Lanes<T> sum{};
    if (parity == Parity::even) {
#pragma GCC unroll 8
      for (int b = 0; b < half_columns; ++b) sum += even_row[a * half_columns + b] * e[b];
    } else {
#pragma GCC unroll 8
      for (int b = 0; b < pairs; ++b) sum += odd_row[a * half_columns + b] * o[b];
    }
    write(a, sum);
  }
}

/// Contracts one axis of a tensor with a 1D matrix: [slow][columns][fast] -> [slow][rows][fast],
/// every entry a Lanes<T>. In place only if rows == columns.
template <int R, int C, Parity parity, Store store = Store::assign, class T>
[[gnu::always_inline]] inline void contract(const EvenOddMatrix<T>& matrix, int fast, int slow,
                                            const Lanes<T>* in, Lanes<T>* out) {
  const int rows = R > 0 ? R : matrix.rows;
  const int columns = C > 0 ? C : matrix.columns;
  for (int s = 0; s < slow; ++s) {
    for (int f = 0; f < fast; ++f) {
      contract_line<R, C, parity, store>(matrix, in + s * columns * fast + f,
                                         out + s * rows * fast + f, fast);
    }
  }
}

}  // namespace tessera
