// KroneckerFactors are the 1D factors of a form that is a sum of Kronecker products.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "operators/form/bilinear_form.hpp"
#include "operators/form/form_shape.hpp"
#include "operators/kronecker/factors/axis_factors.hpp"

namespace tessera {

/// A = K x M x M + M x K x M + M x M x K of an axis-aligned mesh whose coefficient is a product of
/// functions of one coordinate, + r M x M x M where there is a reaction; in 2D A = K x M + M x K
/// + r M x M. `x` stands for the Kronecker product.
struct KroneckerFactors {
  int dimension = 3;
  std::array<AxisFactors, 3> axes;
  /// Robin faces that are no part of the 1D factors: alpha, or k along the face, varies.
  std::vector<RobinTerm> other_robin;
  /// r = c / k.
  double reaction = 0.0;
};

/// Why an operator on such a mesh with such a coefficient and reaction is no sum of Kronecker
/// products, in a user's words; empty if it is.
std::string why_not_kronecker(MeshKind mesh, CoefficientKind coefficient, ReactionKind reaction);
inline std::string why_not_kronecker(const BilinearForm& form) {
  return why_not_kronecker(mesh_kind(*form.discretization), coefficient_kind(form.coefficient),
                           reaction_kind(form.reaction));
}

/// r of a form that is a sum of Kronecker products.
/// @throws BadFieldValue if the reaction is negative or not finite
double kronecker_reaction(const BilinearForm& form);

/// Whether the Robin term is part of the 1D factors of a form with this coefficient; no if that is
/// no product of functions of one coordinate.
bool is_foldable(const RobinTerm& term, const ScalarField& coefficient, int dimension);

/// @throws std::invalid_argument with why_not_kronecker(), BadFieldValue if the coefficient is not
///         positive and finite at a quadrature point or alpha or reaction is negative or not
///         finite
KroneckerFactors make_kronecker_factors(const BilinearForm& form);

}  // namespace tessera
