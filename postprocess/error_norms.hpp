// These functions integrate a solution and its errors.
#pragma once

#include <array>
#include <span>

#include "mesh/discretization.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// Quadrature points per axis beyond the degree.
inline constexpr int kExtraPoints = 3;

/// Integrals over the domain use Gauss quadrature with p + 3 points per axis, whatever quadrature
/// the operator has. Sums are in a fixed order, so that they have the same bits for any number of
/// threads.

struct SolutionNumbers {
  double min = 0.0;  // over the nodes
  double max = 0.0;
  double integral = 0.0;  // of u_h
  double energy = 0.0;    // integral of k |grad u_h|^2 / 2
  double volume = 0.0;    // integral of 1
};

/// @param u nodal values, [lattice.size()], x fastest
/// @param coefficient k, which may depend on u
/// @throws InvertedCell if the Jacobian determinant is not positive at a quadrature point, of which
///         the operator may have others; whatever the field throws
SolutionNumbers solution_numbers(const Discretization& discretization, std::span<const double> u,
                                 const ScalarField& coefficient);

/// The smallest and the largest value, or NaN for both if any value is NaN.
std::array<double, 2> extrema(std::span<const double> u);

/// Integral of u_h alone. @throws InvertedCell
double integral(const Discretization& discretization, std::span<const double> u);

/// Distances of u_h from the exact solution.
struct ErrorNorms {
  double l2 = 0.0;
  double h1_seminorm = 0.0;
  double max = 0.0;  // over the nodes
};

/// The larger one of each norm; not a number where one of the two is none.
ErrorNorms larger_of_each(const ErrorNorms& a, const ErrorNorms& b);

/// Of a field with a program the H1 seminorm takes the exact derivatives. Of one that is known by
/// its values only, it is that of the polynomial of degree p + 2 which has the values of u_h -
/// exact at the quadrature points of a cell: it differs from the true one by O(h^{p + 2}), where
/// the error itself is O(h^p).
/// @throws InvertedCell, whatever the field throws
ErrorNorms error_norms(const Discretization& discretization, std::span<const double> u,
                       const ScalarField& exact);

/// max |u_i - exact(node i)|, or NaN if one of the values is NaN.
double max_error(const Discretization& discretization, std::span<const double> u,
                 const ScalarField& exact);

/// What the mean of a function is made of: sums over parts of the mesh, which a quotient is not.
struct MeanParts {
  double integral = 0.0;  // of the function
  double volume = 0.0;    // of the domain

  double mean() const { return integral / volume; }
};

/// Those of u_h or of a field. Where the mesh folds over at a point of the quadrature, its weight
/// counts as negative.
MeanParts mean_parts(const Discretization& discretization, std::span<const double> u);
MeanParts mean_parts(const Discretization& discretization, const ScalarField& field);

/// Integral of u_h or of a field over the domain divided by the volume, as mean_parts() has them.
double mean_value(const Discretization& discretization, std::span<const double> u);
double mean_value(const Discretization& discretization, const ScalarField& field);

/// Whether cells whose Jacobian determinant is not positive at a point are an error.
enum class FoldedCells { refused, allowed };

/// Throws what integrals of a field over the first cells of the mesh up to this one would throw, if
/// the cells before it are without fault: so that a fault that was found elsewhere has the host's
/// message. @throws InvertedCell, whatever the field throws
void check_cell(const Discretization& discretization, Index cell, const ScalarField& field,
                FoldedCells folded);

}  // namespace tessera
