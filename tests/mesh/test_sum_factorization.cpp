// These tests compare even-odd contractions with plain ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mesh/element/line_product.hpp"
#include "mesh/element/sum_factorization.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {
namespace {

// A random matrix with M[r-1-a][c-1-b] = +-M[a][b].
Matrix1D random_matrix(Parity parity, int rows, int columns, unsigned seed) {
  Matrix1D matrix{rows, columns, random_values(Index{rows} * columns, seed)};
  const double sign = parity == Parity::even ? 1.0 : -1.0;
  const int last = rows * columns - 1;
  for (int k = 0; 2 * k <= last; ++k) {
    matrix.entries[last - k] = sign * matrix.entries[k];
    if (2 * k == last && parity == Parity::odd) matrix.entries[k] = 0.0;
  }
  return matrix;
}

template <class T>
std::vector<Lanes<T>> random_lanes(int n, unsigned seed) {
  const std::vector<double> values = random_values(Index{n} * kLanes<T>, seed);
  std::vector<Lanes<T>> lanes(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    for (int lane = 0; lane < kLanes<T>; ++lane) {
      lanes[i][lane] = static_cast<T>(values[i * kLanes<T> + lane]);
    }
  }
  return lanes;
}

// contract() against the sum it stands for, with sizes known at run time (R = C = 0) or before.
template <class T, Parity parity, Store store, int R, int C>
void expect_contraction(int rows, int columns, int fast, int slow) {
  SCOPED_TRACE(::testing::Message() << rows << " x " << columns << ", fast " << fast << ", slow "
                                    << slow << (R > 0 ? ", compiled" : ", run time"));
  const Matrix1D matrix = random_matrix(parity, rows, columns, 5);
  const EvenOddMatrix<T> split = split_even_odd<T>(matrix);
  const std::vector<Lanes<T>> in = random_lanes<T>(slow * columns * fast, 11);
  std::vector<Lanes<T>> out = random_lanes<T>(slow * rows * fast, 13);
  if (store == Store::assign) {
    for (auto& value : out) value = broadcast(std::numeric_limits<T>::quiet_NaN());
  }
  const std::vector<Lanes<T>> before = random_lanes<T>(slow * rows * fast, 13);
  contract<R, C, parity, store>(split, fast, slow, in.data(), out.data());
  const double tolerance = 4.0 * columns * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (int s = 0; s < slow; ++s) {
    for (int a = 0; a < rows; ++a) {
      for (int f = 0; f < fast; ++f) {
        for (int lane = 0; lane < kLanes<T>; ++lane) {
          const int at = (s * rows + a) * fast + f;
          double sum = store == Store::add ? static_cast<double>(before[at][lane]) : 0.0;
          for (int b = 0; b < columns; ++b) {
            sum += matrix(a, b) * static_cast<double>(in[(s * columns + b) * fast + f][lane]);
          }
          ASSERT_NEAR(static_cast<double>(out[at][lane]), sum, tolerance)
              << "row " << a << " lane " << lane;
        }
      }
    }
  }
}

template <class T, int R, int C>
void expect_contractions(int rows, int columns, int fast, int slow) {
  expect_contraction<T, Parity::even, Store::assign, R, C>(rows, columns, fast, slow);
  expect_contraction<T, Parity::odd, Store::assign, R, C>(rows, columns, fast, slow);
  expect_contraction<T, Parity::even, Store::add, R, C>(rows, columns, fast, slow);
  expect_contraction<T, Parity::odd, Store::add, R, C>(rows, columns, fast, slow);
}

// Products of folded lines, of A and of its transpose, against the sums that they stand for.
template <class T, Parity parity, int R, int C>
void expect_line_products() {
  SCOPED_TRACE(::testing::Message() << R << " x " << C);
  const Matrix1D matrix = random_matrix(parity, R, C, 5);
  const LineMatrix<T, R, C> A(split_even_odd<T>(matrix));
  constexpr int kStride = 3;
  const std::vector<Lanes<T>> x = random_lanes<T>(kStride * C, 7);
  const std::vector<Lanes<T>> y = random_lanes<T>(kStride * R, 9);
  std::vector<Lanes<T>> Ax = y;
  FoldedLine<T, R> folded_Ax;
  add_product<parity>(A, fold<T, C>(x.data(), kStride), folded_Ax);
  unfold(folded_Ax, Ax.data(), kStride);
  std::vector<Lanes<T>> ATy = x;
  FoldedLine<T, C> folded_ATy;
  add_transposed_product<parity>(A, fold<T, R>(y.data(), kStride), folded_ATy);
  unfold<Store::add>(folded_ATy, ATy.data(), kStride);
  const double tolerance = 40.0 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (int lane = 0; lane < kLanes<T>; ++lane) {
    for (int a = 0; a < R; ++a) {
      double sum = 0.0;
      for (int b = 0; b < C; ++b) sum += matrix(a, b) * static_cast<double>(x[b * kStride][lane]);
      ASSERT_NEAR(static_cast<double>(Ax[a * kStride][lane]), sum, tolerance);
    }
    for (int b = 0; b < C; ++b) {
      auto sum = static_cast<double>(x[b * kStride][lane]);
      for (int a = 0; a < R; ++a) sum += matrix(a, b) * static_cast<double>(y[a * kStride][lane]);
      ASSERT_NEAR(static_cast<double>(ATy[b * kStride][lane]), sum, tolerance);
    }
  }
  // What lies between the entries of a line is another line's.
  ASSERT_EQ(Ax[1][0], y[1][0]);
  ASSERT_EQ(ATy[1][0], x[1][0]);
}

template <class T, int R, int C>
void expect_line_products_of_both_parities() {
  expect_line_products<T, Parity::even, R, C>();
  expect_line_products<T, Parity::odd, R, C>();
}

TEST(LineProduct, IsTheSumForAMatrixAndItsTranspose) {
  expect_line_products_of_both_parities<double, 2, 2>();
  expect_line_products_of_both_parities<double, 3, 2>();
  expect_line_products_of_both_parities<double, 4, 2>();
  expect_line_products_of_both_parities<double, 3, 3>();
  expect_line_products_of_both_parities<double, 4, 3>();
  expect_line_products_of_both_parities<double, 5, 3>();
  expect_line_products_of_both_parities<float, 5, 4>();
  expect_line_products_of_both_parities<float, 9, 9>();
  expect_line_products_of_both_parities<double, 10, 9>();
}

TEST(Contraction, OfRunTimeSizesIsTheSum) {
  for (const int rows : {1, 2, 3, 4, 7, 12, 47, 48}) {
    for (const int columns : {1, 2, 3, 5, 8, 47, 48}) {
      expect_contractions<double, 0, 0>(rows, columns, 3, 2);
      expect_contractions<float, 0, 0>(rows, columns, 1, 4);
    }
  }
}

template <class T, int R>
void expect_compiled_rows() {
  expect_contractions<T, R, 2>(R, 2, 3, 2);
  expect_contractions<T, R, 3>(R, 3, 1, 3);
  expect_contractions<T, R, 4>(R, 4, 4, 1);
  expect_contractions<T, R, 5>(R, 5, 2, 2);
}

TEST(Contraction, OfCompiledSizesIsTheSum) {
  expect_compiled_rows<double, 2>();
  expect_compiled_rows<double, 3>();
  expect_compiled_rows<double, 4>();
  expect_compiled_rows<double, 5>();
  expect_compiled_rows<float, 3>();
  expect_compiled_rows<float, 4>();
}

TEST(Contraction, WorksInPlaceForSquareMatrices) {
  for (const int n : {2, 3, 6, 7}) {
    const EvenOddMatrix<double> split =
        split_even_odd<double>(random_matrix(Parity::even, n, n, 3));
    std::vector<Lanes<double>> values = random_lanes<double>(n * 6, 17);
    std::vector<Lanes<double>> expected(values.size());
    contract<0, 0, Parity::even>(split, 3, 2, values.data(), expected.data());
    contract<0, 0, Parity::even>(split, 3, 2, values.data(), values.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (int lane = 0; lane < kLanes<double>; ++lane) {
        ASSERT_EQ(values[i][lane], expected[i][lane]);
      }
    }
  }
}

// The symmetry of nodes and points is what the even-odd decomposition rests on.
TEST(BasisMatrices, HaveTheParityTheyAreSplitBy) {
  for (const NodeFamily family : {NodeFamily::gauss_lobatto, NodeFamily::equidistant}) {
    for (const QuadratureRule rule : {QuadratureRule::gauss, QuadratureRule::gauss_lobatto}) {
      for (const int p : {1, 2, 5, 8}) {
        for (const int points : {p + 1, p + 2}) {
          const Basis1D basis = make_basis(p, family, rule, points);
          const auto expect_parity = [](const Matrix1D& matrix, double sign) {
            const int last = matrix.rows * matrix.columns - 1;
            double largest = 0.0;
            for (const double entry : matrix.entries) largest = std::max(largest, std::abs(entry));
            for (int k = 0; k <= last; ++k) {
              ASSERT_NEAR(matrix.entries[last - k], sign * matrix.entries[k], 1e-13 * largest);
            }
          };
          expect_parity(basis.B, 1.0);
          expect_parity(basis.G, -1.0);
          expect_parity(basis.D, -1.0);
        }
      }
    }
  }
}

TEST(Transposes, SwapRowsAndColumns) {
  const Matrix1D matrix{2, 3, {1, 2, 3, 4, 5, 6}};
  const Matrix1D result = transpose(matrix);
  EXPECT_EQ(result.rows, 3);
  EXPECT_EQ(result.columns, 2);
  EXPECT_EQ(result.entries, (std::vector<double>{1, 4, 2, 5, 3, 6}));
}

}  // namespace
}  // namespace tessera::testing
