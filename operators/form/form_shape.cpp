// FormShape from a form.
#include "operators/form/form_shape.hpp"

namespace tessera {

FactorKind FormShape::factors() const {
  if (mesh_kind != MeshKind::uniform) return FactorKind::general;
  return coefficient == CoefficientKind::constant && reaction != ReactionKind::varying
             ? FactorKind::constant
             : FactorKind::scaled;
}

CoefficientKind coefficient_kind(const ScalarField& coefficient) {
  if (coefficient.constant) return CoefficientKind::constant;
  return is_separable(coefficient) ? CoefficientKind::separable : CoefficientKind::general;
}

MeshKind unmapped_kind(const BoxMesh& mesh) {
  return mesh.is_uniform() ? MeshKind::uniform : MeshKind::graded;
}

MeshKind mesh_kind(const Discretization& discretization) {
  if (!discretization.mapping.is_cartesian()) return MeshKind::mapped;
  return unmapped_kind(discretization.mesh);
}

FormShape form_shape(const BilinearForm& form, Processor processor, Index value_bytes) {
  const Discretization& discretization = *form.discretization;
  return {processor,
          value_bytes,
          discretization.mesh,
          discretization.lattice,
          discretization.basis.point_count(),
          mesh_kind(discretization),
          coefficient_kind(form.coefficient),
          form.dirichlet,
          reaction_kind(form.reaction),
          form.depends_on_u() ? StateKind::given : StateKind::none,
          is_mass(form.coefficient, form.reaction) ? FormTerms::mass : FormTerms::all};
}

FormShape whole_shape(const BilinearForm& form, Processor processor, Index value_bytes) {
  FormShape shape = form_shape(form, processor, value_bytes);
  if (form.part == nullptr) return shape;
  shape.mesh = form.part->rank->whole_mesh();
  shape.lattice = form.part->rank->nodes().whole();
  shape.dirichlet = form.part->dirichlet;
  return shape;
}

FormShape on_level(const FormShape& shape, const BoxMesh& mesh, int degree) {
  FormShape level = shape;
  level.mesh = mesh;
  level.lattice = NodeLattice(mesh, degree);
  level.points = degree + shape.points - shape.degree();
  // An odd number of equal cells has one of half the width on the coarser mesh.
  if (shape.mesh_kind != MeshKind::mapped) level.mesh_kind = unmapped_kind(mesh);
  return level;
}

}  // namespace tessera
