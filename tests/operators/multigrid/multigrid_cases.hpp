// These are the problems that multigrid is tested on.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "operators/multigrid/multigrid.hpp"
#include "operators/strategy.hpp"
#include "tests/operators/problems.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {

/// A coarsest level of at most about so many DoFs: its inverse is soon made.
inline constexpr Index kSmallEnough = 100;

inline MultigridOptions quick_options(SmootherKind smoother = SmootherKind::chebyshev) {
  MultigridOptions options;
  options.rules.small_enough = kSmallEnough;
  options.smoother = smoother;
  return options;
}

/// 1 and 10^4 in turns, in blocks of 2 x 2 (x 2) cells of the box.
inline ScalarField jumping_coefficient(const BoxMesh& mesh) {
  return field_of([mesh](double x, double y, double z) {
    const Point at = {x, y, z};
    Index sum = 0;
    for (int d = 0; d < mesh.dimension(); ++d) {
      sum += static_cast<Index>((at[d] - mesh.lower()[d]) / (2.0 * mesh.cell_width(d, 0)));
    }
    return sum % 2 == 0 ? 1.0 : 1e4;
  });
}

/// On a box with equal cells, whatever options.geometry says.
inline Problem make_jumping_problem(ProblemOptions options) {
  options.geometry = Geometry::cartesian;
  Problem problem = make_problem(options);
  problem.form.coefficient = jumping_coefficient(problem.discretization->mesh);
  return problem;
}

inline ProblemOptions options_for(int dimension) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = dimension == 2 ? 4 : 2;
  options.cells = dimension == 2 ? IndexTriple{11, 9, 1} : IndexTriple{6, 5, 7};
  return options;
}

/// Every boundary, coefficient and geometry, a jumping coefficient, and degree 1.
inline std::vector<Problem> problems(int dimension) {
  ProblemOptions options = options_for(dimension);
  std::vector<Problem> all;
  for (const ProblemOptions& each : with_every_form(options)) all.push_back(make_problem(each));
  all.push_back(make_jumping_problem(options));
  options.degree = 1;
  all.push_back(make_problem(options));
  return all;
}

/// The same, a coefficient that jumps beside other boundaries, and Robin faces.
inline std::vector<Problem> more_problems(int dimension) {
  ProblemOptions options = options_for(dimension);
  std::vector<Problem> all = problems(dimension);
  for (const Boundary boundary : {Boundary::none, Boundary::dirichlet}) {
    options.boundary = boundary;
    all.push_back(make_jumping_problem(options));
  }
  all.push_back(make_one_dirichlet_face_problem(options, 2));
  // Robin on all faces.
  all.push_back(make_one_dirichlet_face_problem(options, 2));
  all.back().form.dirichlet.reset();
  return all;
}

/// Dirichlet on all faces of a box of these edges.
inline Problem make_box_problem(int dimension, int degree, const IndexTriple& cells,
                                const Point& edges) {
  Problem problem;
  problem.discretization = std::make_unique<const Discretization>(make_discretization(
      BoxMesh(dimension, cells, {0, 0, 0}, edges),
      make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, degree + 1)));
  problem.form.discretization = problem.discretization.get();
  problem.form.coefficient = constant_field(1.0);
  for (int face = 0; face < face_count(dimension); ++face) problem.form.dirichlet.set(face);
  return problem;
}

/// The operator that the finest level of multigrid has.
template <class Space = Host>
std::unique_ptr<LinearOperator<double, Space>> finest_operator(const BilinearForm& form) {
  const FormShape shape = form_shape(form, kProcessorOf<Space>, sizeof(double));
  return make_operator<double, Space>(choose_strategy(shape, "coloring"), form);
}

/// Random values that are a right-hand side of the form: 0 on constrained nodes, and A of random
/// values where constants are its null space.
inline std::vector<double> right_hand_side(const Problem& problem,
                                           const LinearOperator<double, Host>& a, unsigned seed) {
  std::vector<double> b = random_values(problem.size(), seed);
  const NodeLattice& lattice = problem.discretization->lattice;
  for (Index node = 0; node < problem.size(); ++node) {
    if (lattice.on_faces(lattice.node_position(node), problem.form.dirichlet)) b[node] = 0.0;
  }
  if (!is_pure_neumann(problem.form)) return b;
  return values_of(applied(a, vector_of<double>(b)));
}

/// The values less their mean.
inline std::vector<double> without_mean(const HostVector<double>& x) {
  double sum = 0.0;
  for (const double value : x.span()) sum += value;
  const double mean = sum / static_cast<double>(x.size());
  std::vector<double> values = values_of(x);
  for (double& value : values) value -= mean;
  return values;
}

inline SolveOptions to_tolerance(double tolerance) {
  SolveOptions options;
  options.relative_tolerance = tolerance;
  options.max_iterations = 20000;
  return options;
}

}  // namespace tessera::testing
