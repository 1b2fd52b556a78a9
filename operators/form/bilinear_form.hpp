// A BilinearForm is what every strategy discretizes.
#pragma once

#include <memory>
#include <vector>

#include "mesh/discretization.hpp"
#include "mesh/face.hpp"
#include "mesh/geometry/factor_kind.hpp"
#include "mesh/scalar_field.hpp"
#include "operators/form/form_state.hpp"
#include "operators/ranks/rank_part.hpp"

namespace tessera {

/// alpha in the boundary condition k du/dn + alpha u = value on one face.
struct RobinTerm {
  int face;
  ScalarField alpha;
};

/// Of a form on one rank's part of a domain: the part, and the conditions on the whole domain's
/// faces, of which the part has some or none.
struct PartOfWhole {
  std::shared_ptr<const RankPart> rank;
  FaceSet dirichlet;
  std::vector<RobinTerm> robin;
};

/// What every strategy discretizes: a(u, v) = (k grad u, grad v) + (c u, v) + sum over Robin faces
/// <alpha u, v>, k the coefficient and c the reaction, with the rows and columns of nodes on
/// Dirichlet faces replaced by the identity. With the number 0 for k, which needs a reaction, it is
/// that of a mass matrix.
///
/// The discretization is referred to and must outlive the operators made from the form.
///
/// k and c may depend on the solution u. They are then taken at the state, a u that is given: the
/// form is linear still.
struct BilinearForm {
  const Discretization* discretization;
  ScalarField coefficient;
  FaceSet dirichlet;
  std::vector<RobinTerm> robin;
  ScalarField reaction = constant_field(0.0);
  /// u at the nodes; null if there is none, and then nothing may depend on u.
  std::shared_ptr<const FormState> state = nullptr;
  ReactionSign reaction_sign = ReactionSign::non_negative;
  /// Where several ranks have parts of the form: it is this rank's summand, and `dirichlet` and
  /// `robin` are faces of the part. Null: the form is the whole.
  std::shared_ptr<const PartOfWhole> part = nullptr;

  bool depends_on_u() const { return coefficient.depends_on_u || reaction.depends_on_u; }
  /// The layout of vectors of nodal values.
  VectorLayout layout() const {
    return part ? part->rank->layout() : VectorLayout(discretization->lattice.size());
  }
  /// The faces of the discretization that lie on the domain's boundary.
  FaceSet domain_faces() const { return part ? part->rank->domain_faces() : FaceSet().set(); }
  /// What k and c are evaluated with.
  FieldContext context() const { return {state ? state->data() : nullptr, reaction_sign}; }
};

/// Whether alpha is 0 at every quadrature point of the face, so that the term adds nothing.
bool vanishes(const RobinTerm& term, const Discretization& discretization);

/// Whether a field is 0 at every quadrature point.
/// @param u at the nodes, which the field may depend on
bool vanishes(const ScalarField& field, const Discretization& discretization,
              const double* u = nullptr);

/// Whether constants are the null space of the form's matrix: there is no Dirichlet face, and
/// reaction and all Robin terms vanish. Coarser levels of a hierarchy look at fewer points, and may
/// answer otherwise than the finest. Of a part it is said whether it is so of the whole; all ranks
/// ask together.
bool is_pure_neumann(const BilinearForm& form);

/// The summand of a form that belongs to a rank: with the Dirichlet and Robin faces that its part
/// has of the domain's.
/// @param whole on the domain but for its discretization and its state, which are not looked at
/// @param part the discretization of the rank's part, to which the result refers
BilinearForm form_on_part(BilinearForm whole, const Discretization& part,
                          std::shared_ptr<const RankPart> rank);

/// b = sum over ranks of b, where the form is a part: of load vectors, which ranks assemble on
/// their own parts. Constrained rows, which all ranks have alike, stay. All ranks call it together.
void sum_over_ranks(const BilinearForm& form, HostVector<double>& b);

}  // namespace tessera
