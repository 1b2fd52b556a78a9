// These functions hold the Kronecker operator to the reference, on host and GPU.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

#include "operators/kronecker/device_kronecker.hpp"
#include "operators/kronecker/kronecker.hpp"
#include "tests/operators/fused_checks.hpp"
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

inline bool are_all_uniform(const Problem& problem) {
  const BoxMesh& mesh = problem.form.discretization->mesh;
  for (int d = 0; d < mesh.dimension(); ++d) {
    if (!mesh.is_uniform(d)) return false;
  }
  return true;
}

// Where the operator has fused forms, as it has in sizes that are compiled and without Robin faces.
template <class T, class Space>
void expect_fused_operations_equal_compositions(const Problem& problem) {
  const auto a = make_kronecker<T, Space>(problem.form);
  if (a->fused() != nullptr) {
    const bool are_cells_alike = problem.form.discretization->mapping.is_cartesian() &&
                                 problem.form.coefficient.constant && are_all_uniform(problem);
    EXPECT_EQ(a->fused()->has_step(),
              (std::is_same_v<Space, Device> && std::is_same_v<T, float> &&
               problem.form.discretization->mesh.dimension() == 3 && are_cells_alike));
    return expect_fused_operations_equal_compositions(*a);
  }
  EXPECT_TRUE((std::is_same_v<Space, Device> && problem.form.discretization->basis.degree > 8) ||
              !problem.form.robin.empty());
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
inline IndexTriple tile_cells_for(Processor processor, int dimension, int degree) {
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
