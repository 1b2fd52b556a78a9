// These problems cover every boundary condition, coefficient and geometry.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "operators/form/bilinear_form.hpp"
#include "tests/vectors.hpp"

namespace tessera::testing {

using PointFunction = std::function<double(double x, double y, double z)>;

/// A field from a function of one point; never known to be constant.
ScalarField field_of(PointFunction function);
/// The field as a product of functions of one coordinate, of which it is the one of this axis.
ScalarField varying_along(int axis, const ScalarField& field);

enum class Geometry { cartesian, curved, graded };
enum class Coefficient { constant, variable, separable };
enum class Reaction { none, constant, variable };
enum class Boundary { none, mixed, dirichlet };

/// What a test problem is made of; the box has unequal, non-unit edges and lower corner != 0.
struct ProblemOptions {
  int dimension = 3;
  int degree = 2;
  IndexTriple cells = {3, 2, 2};
  int points = 0;  // 0 = degree + 1
  NodeFamily nodes = NodeFamily::gauss_lobatto;
  QuadratureRule rule = QuadratureRule::gauss;
  Geometry geometry = Geometry::curved;
  int graded_axis = -1;  // of Geometry::graded: all axes if negative
  Coefficient coefficient = Coefficient::variable;
  Reaction reaction = Reaction::none;
  Boundary boundary = Boundary::mixed;
};

std::string describe(const ProblemOptions& options);

/// A discretization and a form on it.
///
/// Boundary::mixed: Dirichlet left and top; Robin right (variable alpha) and back (constant alpha);
/// Neumann bottom and front.
struct Problem {
  std::unique_ptr<const Discretization> discretization;
  BilinearForm form;

  Index size() const { return discretization->lattice.size(); }
};

Problem make_problem(const ProblemOptions& options);

/// Of degree 1, as the stencil takes them.
ProblemOptions stencil_options(int dimension, const IndexTriple& cells);

/// The options with every boundary and geometry, and coefficients constant and variable.
std::vector<ProblemOptions> with_every_form(ProblemOptions options);

/// Dirichlet on one face, Robin on all others, whatever options.boundary says.
Problem make_one_dirichlet_face_problem(ProblemOptions options, int face);

/// Grid lines of Geometry::graded: widths grow along x, are irregular along y and shrink along z.
std::array<GridLines, 3> graded_lines(const IndexTriple& cells, const Point& lower,
                                      const Point& upper);

Discretization make_discretization(const BoxMesh& mesh, const Basis1D& basis);
Discretization make_mapped_discretization(const BoxMesh& mesh, const Basis1D& basis,
                                          const std::array<ScalarField, 3>& components);

/// random_values(), rounded to what T holds exactly, so that only the operator rounds.
template <class T>
std::vector<double> random_input(Index n, unsigned seed) {
  std::vector<double> values = random_values(n, seed);
  for (double& value : values) value = static_cast<T>(value);
  return values;
}

/// How near to the reference an operator of this precision is.
inline constexpr double kDoubleTolerance = 1e-12;
inline constexpr double kFloatTolerance = 1e-5;
template <class T>
constexpr double tolerance() {
  return sizeof(T) == sizeof(double) ? kDoubleTolerance : kFloatTolerance;
}

/// max |a_i - b_i| / max |b_i|; infinite if an a_i is not finite.
template <class T>
double relative_difference(const HostVector<T>& a, const std::vector<double>& b);

}  // namespace tessera::testing
