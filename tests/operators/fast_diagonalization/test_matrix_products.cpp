// These tests hold matrix products of the GPU to their definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "operators/fast_diagonalization/matrix_products.hpp"
#include "solvers/memory/device_array.hpp"
#include "tests/device_test.hpp"

namespace tessera::testing {
namespace {

struct Shape {
  std::int64_t rows, columns, inner, count;
  std::int64_t padding;  // beyond the entries of each matrix' columns
};

// Matrices that follow each other on the host and on the GPU.
template <class T>
struct Matrices {
  Matrices(std::int64_t rows, std::int64_t columns, const Shape& shape, std::mt19937& random)
      : leading(rows + shape.padding), stride(leading * columns), values(stride * shape.count) {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (T& value : values) value = static_cast<T>(uniform(random));
    on_gpu = DeviceArray<T>(values);
  }
  DeviceMatrix<const T> view() const { return {on_gpu.data(), leading, stride}; }

  std::int64_t leading;
  std::int64_t stride;
  std::vector<T> values;
  DeviceArray<T> on_gpu;
};

template <class T>
class Case {
 public:
  Case(const Shape& shape, Factor op_a, Factor op_b, std::mt19937& random)
      : shape_(shape),
        op_a_(op_a),
        op_b_(op_b),
        a_(op_a == Factor::plain ? shape.rows : shape.inner,
           op_a == Factor::plain ? shape.inner : shape.rows, shape, random),
        b_(op_b == Factor::plain ? shape.inner : shape.columns,
           op_b == Factor::plain ? shape.columns : shape.inner, shape, random),
        c_(shape.rows, shape.columns, shape, random) {
    std::vector<T> poison(c_.values.size(), std::numeric_limits<T>::quiet_NaN());
    c_.on_gpu = DeviceArray<T>(poison);
  }

  MatrixProduct<T> product() {
    return {shape_.rows, shape_.columns, shape_.inner,
            a_.view(),   b_.view(),      {c_.on_gpu.data(), c_.leading, c_.stride}};
  }

  void expect_right() {
    std::vector<T> c(c_.values.size());
    copy_to_host(c_.on_gpu.data(), c_.on_gpu.bytes(), c.data());
    const double tolerance =
        std::numeric_limits<T>::epsilon() * std::sqrt(static_cast<double>(shape_.inner)) * 4.0;
    for (std::int64_t k = 0; k < shape_.count; ++k) {
      for (std::int64_t j = 0; j < shape_.columns; ++j) {
        for (std::int64_t i = 0; i < c_.leading; ++i) {
          const double value = c[k * c_.stride + j * c_.leading + i];
          if (i >= shape_.rows) {
            ASSERT_TRUE(std::isnan(value)) << "padding is left alone";
          } else {
            ASSERT_NEAR(value, expected(k, i, j), tolerance) << k << " " << i << " " << j;
          }
        }
      }
    }
  }

 private:
  double expected(std::int64_t k, std::int64_t i, std::int64_t j) const {
    const auto at = [k](const Matrices<T>& matrix, Factor op, std::int64_t row,
                        std::int64_t column) {
      if (op == Factor::transposed) std::swap(row, column);
      return static_cast<double>(matrix.values[k * matrix.stride + column * matrix.leading + row]);
    };
    double sum = 0.0;
    for (std::int64_t l = 0; l < shape_.inner; ++l) {
      sum += at(a_, op_a_, i, l) * at(b_, op_b_, l, j);
    }
    return sum;
  }

  Shape shape_;
  Factor op_a_, op_b_;
  Matrices<T> a_, b_, c_;
};

// Of one tile and of several, with and without rests, whose columns begin at multiples of 16 bytes
// and elsewhere.
constexpr Shape kShapes[] = {{1, 1, 1, 1, 0},     {64, 128, 16, 1, 0},  {65, 129, 17, 2, 7},
                             {130, 70, 33, 3, 6}, {208, 100, 50, 1, 8}, {3, 200, 5, 2, 1},
                             {300, 2, 70, 1, 4},  {57, 33, 31, 5, 3}};

template <class T>
void expect_right_products() {
  std::mt19937 random(1);
  for (const auto& [op_a, op_b] : {std::pair{Factor::plain, Factor::plain},
                                   {Factor::plain, Factor::transposed},
                                   {Factor::transposed, Factor::plain}}) {
    for (const Shape& shape : kShapes) {
      Case<T> whole(shape, op_a, op_b, random);
      // As the other part of a folded axis: a place less.
      Case<T> other({shape.rows, std::max<std::int64_t>(shape.columns - 1, 1),
                     std::max<std::int64_t>(shape.inner - 1, 1), shape.count, shape.padding},
                    op_a, op_b, random);
      const MatrixProduct<T> products[] = {whole.product(), other.product()};
      multiply<T>(op_a, op_b, products, shape.count);
      whole.expect_right();
      other.expect_right();
      Case<T> alone(shape, op_a, op_b, random);
      const MatrixProduct<T> one[] = {alone.product()};
      multiply<T>(op_a, op_b, one, shape.count);
      alone.expect_right();
    }
  }
}

TEST(DeviceMatrixProducts, AreThoseOfTheDefinition) {
  TESSERA_REQUIRE_DEVICE();
  expect_right_products<double>();
  expect_right_products<float>();
}

// More than a launch takes along an axis of its grid.
TEST(DeviceMatrixProducts, MayBeVeryMany) {
  TESSERA_REQUIRE_DEVICE();
  std::mt19937 random(2);
  Case<double> many({2, 3, 2, 70000, 0}, Factor::plain, Factor::plain, random);
  const MatrixProduct<double> products[] = {many.product()};
  multiply<double>(Factor::plain, Factor::plain, products, 70000);
  many.expect_right();
}

}  // namespace
}  // namespace tessera::testing
