#pragma once

#include <vector>

#include "mesh/discretization.hpp"
#include "mesh/face.hpp"
#include "mesh/geometry_form.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// alpha in the boundary condition k du/dn + alpha u = value on one face.
struct RobinTerm {
  int face;
  ScalarField alpha;
};

/// What every strategy discretizes: a(u, v) = (k grad u, grad v) + sum over Robin faces <alpha u,
/// v>, with the rows and columns of nodes on Dirichlet faces replaced by the identity.
///
/// The discretization is referred to and must outlive the operators made from the form.
struct StiffnessForm {
  const Discretization* discretization;
  ScalarField coefficient;
  FaceSet dirichlet;
  std::vector<RobinTerm> robin;
  /// How the kernel tensor gets general factors; one of geometry_forms().
  GeometryForm geometry = GeometryForm::stored;
};

/// Whether constants are the null space: no Dirichlet face, and no Robin face whose alpha may
/// differ from 0.
inline bool is_pure_neumann(const StiffnessForm& form) {
  for (const RobinTerm& term : form.robin) {
    if (!is_zero(term.alpha)) return false;
  }
  return form.dirichlet.none();
}

}  // namespace tessera
