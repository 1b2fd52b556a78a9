// These functions hold the Kronecker operator to the reference, on host and GPU.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

#include "operators/kronecker/device_kronecker.hpp"
#include "operators/kronecker/kronecker.hpp"
#include "tests/operators/kronecker/null_space.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"

namespace tessera::testing {

inline ProblemOptions kronecker_options(int dimension, int degree, IndexTriple cells) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  options.cells = cells;
  options.geometry = Geometry::cartesian;
  options.coefficient = Coefficient::constant;
  return options;
}

template <class T, class Space>
std::unique_ptr<LinearOperator<T, Space>> make_kronecker(const BilinearForm& form) {
  if constexpr (std::is_same_v<Space, Host>) {
    return make_kronecker_operator<T>(form);
  } else {
    return make_device_kronecker_operator<T>(form);
  }
}

// Of the reference; on the GPU of the host's operator, which equals the reference in the same
// tests.
struct Expected {
  std::vector<double> product;
  std::vector<double> diagonal;
};
template <class Space>
Expected expected_of(const Problem& problem, const std::vector<double>& x) {
  if constexpr (std::is_same_v<Space, Host>) {
    const Reference reference(problem.form);
    return {reference.apply(x), reference.diagonal()};
  } else {
    const auto host = make_kronecker_operator<double>(problem.form);
    return {values_of(applied(*host, vector_of<double>(x))), values_of(diagonal_of(*host))};
  }
}

template <class T, class Space>
void expect_equal_to(const Expected& expected, const LinearOperator<T, Space>& a,
                     const std::vector<double>& input) {
  ASSERT_EQ(a.size(), static_cast<Index>(input.size()));
  const HostVector<T> x = vector_of<T>(input);
  for (int repetition = 0; repetition < 2; ++repetition) {
    EXPECT_LT(relative_difference(applied(a, x), expected.product), tolerance<T>())
        << "apply " << repetition;
  }
  EXPECT_LT(relative_difference(diagonal_of(a), expected.diagonal), tolerance<T>()) << "diagonal";
}

template <class T, class Space>
void expect_equal_to_reference(const Problem& problem) {
  const std::vector<double> input = random_input<T>(problem.size(), 29);
  expect_equal_to(expected_of<Space>(problem, input), *make_kronecker<T, Space>(problem.form),
                  input);
}

// Sums in the memory of Space, NaN until written.
template <class Space>
class Sums;
template <>
class Sums<Host> {
 public:
  double* data() { return values_.data(); }
  double get(int i) const { return values_[i]; }

 private:
  std::array<double, 2> values_{NAN, NAN};
};
template <>
class Sums<Device> {
 public:
  double* data() { return values_.data(); }
  double get(int i) const { return to_host(values_)[i]; }

 private:
  DeviceArray<double> values_{std::vector<double>{NAN, NAN}};
};

inline double dot_of(const std::vector<double>& x, const std::vector<double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

template <class T>
void expect_sum(double sum, const std::vector<double>& x, const std::vector<double>& y) {
  // The sum that it is compared with is taken term by term, whose rounding grows with their number.
  const double terms = std::max(1.0, 1e-3 * std::sqrt(static_cast<double>(x.size())));
  EXPECT_NEAR(sum, dot_of(x, y),
              terms * tolerance<T>() * std::sqrt(dot_of(x, x)) * std::sqrt(dot_of(y, y)));
}

// Each fused form against apply() and plain loops.
template <class T, class Space>
void expect_fused_operations_equal_compositions(const Problem& problem) {
  constexpr bool kOnTheHost = std::is_same_v<Space, Host>;
  const auto a = make_kronecker<T, Space>(problem.form);
  const FusedOperations<T, Space>* fused = a->fused();
  if (fused == nullptr) {
    EXPECT_TRUE((!kOnTheHost && problem.form.discretization->basis.degree > 8) ||
                !problem.form.robin.empty());
    return;
  }
  const Index n = problem.size();
  const std::vector<double> x = random_input<T>(n, 3);
  const std::vector<double> b = random_input<T>(n, 5);
  const auto space_x = vector_in<T, Space>(x);
  const auto space_b = vector_in<T, Space>(b);
  const HostVector<T> applied_x = applied(*a, vector_of<T>(x));
  const std::vector<double> ax = values_of(applied_x);

  Sums<Space> sums;
  auto y = poisoned<T, Space>(n);
  fused->apply_dot(space_x, y, sums.data());
  EXPECT_LT(relative_difference(on_host(y), ax), tolerance<T>()) << "y of apply_dot";
  if (kOnTheHost) {
    EXPECT_TRUE(same_bits(on_host(y), applied_x));
  }
  expect_sum<T>(sums.get(0), x, ax);
  expect_sum<T>(sums.get(1), ax, ax);
  const double first = sums.get(0);
  fused->apply_dot(space_x, y, sums.data());
  EXPECT_EQ(sums.get(0), first) << "the same bits in every run";

  std::vector<double> expected(n);
  for (Index i = 0; i < n; ++i) expected[i] = b[i] - ax[i];
  auto r = poisoned<T, Space>(n);
  const double beyond = sums.get(1);
  fused->residual(space_b, space_x, r, sums.data());
  EXPECT_LT(relative_difference(on_host(r), expected), tolerance<T>()) << "residual";
  expect_sum<T>(sums.get(0), expected, expected);
  expect_sum<T>(sums.get(0), values_of(r), values_of(r));
  EXPECT_EQ(sums.get(1), beyond) << "residual() has one sum";
  auto in_place = vector_in<T, Space>(b);
  fused->residual(in_place, space_x, in_place, sums.data());
  EXPECT_LT(relative_difference(on_host(in_place), expected), tolerance<T>()) << "r is b";
  if (kOnTheHost) {
    EXPECT_TRUE(same_bits(on_host(in_place), on_host(r))) << "r is b";
  }
}

// A times a constant: 0 at all nodes that are not on a Robin face, to the last bit.
template <class T, class Space>
void expect_constants_in_null_space(const Problem& problem) {
  HostVector<T> x(problem.size());
  fill(x, static_cast<T>(100.0 / 3.0));
  const HostVector<T> y = applied(*make_kronecker<T, Space>(problem.form), x);
  EXPECT_EQ(wrong_products_of_a_constant(problem, y), 0);
}

// Two batches of cells along x and a rest for double; y and z have bricks and a rest. On the GPU
// cells beyond one tile along x and along y, and more than one layer.
inline IndexTriple cells_for(Processor processor, int dimension, int degree) {
  if (processor == Processor::cpu) {
    if (dimension == 2) return {degree <= 4 ? 19 : 9, degree <= 2 ? 7 : 3, 1};
    if (degree <= 2) return {18, 7, 5};
    if (degree <= 4) return {9, 3, 2};
    return degree <= 8 ? IndexTriple{2, 1, 3} : IndexTriple{1, 2, 1};
  }
  constexpr int kAlongX[] = {0, 63, 33, 22, 16, 13, 11, 10, 16, 3};
  constexpr int kAlongY[] = {0, 10, 6, 4, 3, 2, 3, 2, 3, 2};
  const int row = std::min(degree, 9);
  if (dimension == 2) return {kAlongX[row], 2 * kAlongY[row] + 1, 1};
  return {kAlongX[row], kAlongY[row], degree <= 2 ? 5 : 2};
}

/// Calls f(problem) for every boundary, grading and coefficient.
template <class F>
void for_each_kind(ProblemOptions options, F&& f) {
  for (const Boundary boundary : {Boundary::none, Boundary::mixed, Boundary::dirichlet}) {
    for (const Coefficient coefficient : {Coefficient::constant, Coefficient::separable}) {
      for (const Geometry geometry : {Geometry::cartesian, Geometry::graded}) {
        options.boundary = boundary;
        options.coefficient = coefficient;
        options.geometry = geometry;
        SCOPED_TRACE(describe(options));
        f(make_problem(options));
      }
    }
  }
}

}  // namespace tessera::testing
