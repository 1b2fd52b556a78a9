// A BilinearForm is what every strategy discretizes.
#pragma once

#include <vector>

#include "mesh/discretization.hpp"
#include "mesh/face.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// alpha in the boundary condition k du/dn + alpha u = value on one face.
struct RobinTerm {
  int face;
  ScalarField alpha;
};

/// What every strategy discretizes: a(u, v) = (k grad u, grad v) + (c u, v) + sum over Robin faces
/// <alpha u, v>, k the coefficient and c the reaction, with the rows and columns of nodes on
/// Dirichlet faces replaced by the identity.
///
/// The discretization is referred to and must outlive the operators made from the form.
struct BilinearForm {
  const Discretization* discretization;
  ScalarField coefficient;
  FaceSet dirichlet;
  std::vector<RobinTerm> robin;
  ScalarField reaction = constant_field(0.0);
};

/// Whether alpha is 0 at every quadrature point of the face, so that the term adds nothing.
bool vanishes(const RobinTerm& term, const Discretization& discretization);

/// Whether a field is 0 at every quadrature point.
bool vanishes(const ScalarField& field, const Discretization& discretization);

/// Whether constants are the null space of the form's matrix: there is no Dirichlet face, and
/// reaction and all Robin terms vanish. Coarser levels of a hierarchy look at fewer points, and may
/// answer otherwise than the finest.
bool is_pure_neumann(const BilinearForm& form);

}  // namespace tessera
