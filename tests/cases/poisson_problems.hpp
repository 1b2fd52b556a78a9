// These functions make boundary value problems and the meshes they are on.
#pragma once

#include <cmath>
#include <utility>

#include "cases/problem/poisson_problem.hpp"
#include "operators/strategy.hpp"
#include "tests/operators/problems.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {

inline constexpr int kLeft = static_cast<int>(Face::left);
inline constexpr int kRight = static_cast<int>(Face::right);
inline constexpr int kBottom = static_cast<int>(Face::bottom);
inline constexpr int kTop = static_cast<int>(Face::top);
inline constexpr int kBack = static_cast<int>(Face::back);
inline constexpr int kFront = static_cast<int>(Face::front);

inline BoundaryCondition dirichlet(ScalarField value) {
  return {BoundaryType::dirichlet, std::move(value), {}};
}
inline BoundaryCondition neumann(ScalarField value) {
  return {BoundaryType::neumann, std::move(value), {}};
}
inline BoundaryCondition robin(ScalarField alpha, ScalarField value) {
  return {BoundaryType::robin, std::move(value), std::move(alpha)};
}

// The mesh of the operators' tests, without the form.
inline Discretization test_mesh(int dimension, int degree, Geometry geometry) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  options.geometry = geometry;
  return *make_problem(options).discretization;
}

// A box with unequal edges, of volume 3 in both dimensions.
inline Discretization box_of_volume_3(int dimension, int degree = 2) {
  const BoxMesh mesh = dimension == 2 ? BoxMesh(2, {3, 2, 1}, {-1.0, 0.5, 0.0}, {1.0, 2.0, 0.0})
                                      : BoxMesh(3, {3, 2, 4}, {-1.0, 0.5, 0.0}, {1.0, 2.0, 1.0});
  return make_discretization(
      mesh, make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, degree + 1));
}

// A condition of every kind; left and top are Dirichlet, right and back Robin.
inline PoissonProblem mixed_problem(int dimension) {
  PoissonProblem problem;
  problem.dimension = dimension;
  problem.coefficient =
      field_of([](double x, double y, double z) { return 2.0 + std::sin(x + 2.0 * y - z); });
  problem.source = field_of([](double x, double y, double z) { return x * y - std::cos(3.0 * z); });
  problem.boundary[kLeft] =
      dirichlet(field_of([](double x, double y, double z) { return 3.0 + x * y + z; }));
  problem.boundary[kRight] =
      robin(field_of([](double, double y, double z) { return 1.0 + y * y + z; }),
            field_of([](double x, double y, double z) { return std::exp(x - y) + z; }));
  problem.boundary[kBottom] =
      neumann(field_of([](double x, double, double z) { return std::cos(x) - z; }));
  problem.boundary[kTop] =
      dirichlet(field_of([](double x, double y, double z) { return -2.0 - x + y * z; }));
  if (dimension == 3) {
    problem.boundary[kBack] = robin(
        constant_field(0.7), field_of([](double x, double y, double) { return x + 2.0 * y; }));
    problem.boundary[kFront] = neumann(constant_field(-1.25));
  }
  return problem;
}

inline double sum(const HostVector<double>& x) {
  double total = 0.0;
  for (Index i = 0; i < x.size(); ++i) total += x[i];
  return total;
}

inline double one_norm(const HostVector<double>& x) {
  double total = 0.0;
  for (Index i = 0; i < x.size(); ++i) total += std::abs(x[i]);
  return total;
}

inline SolveReport solve(const PoissonProblem& problem, const Discretization& discretization,
                         LinearSystem& system) {
  const auto a =
      make_operator<double>({"tensor", "coloring"}, stiffness_form(problem, discretization));
  const Jacobi<double> jacobi(*a);
  SolveOptions options;
  options.relative_tolerance = 1e-12;
  options.reference_norm = system.reference_norm;
  return cg(*a, &jacobi, system.b, system.x, options);
}

inline PoissonProblem problem_of(int dimension, const BoundaryCondition& everywhere) {
  PoissonProblem problem;
  problem.dimension = dimension;
  for (int face = 0; face < face_count(dimension); ++face) problem.boundary[face] = everywhere;
  return problem;
}

}  // namespace tessera::testing
