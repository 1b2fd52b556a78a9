// FormShape from a form.
#include "operators/form/form_shape.hpp"

namespace tessera {

FactorKind FormShape::factors() const {
  if (mesh_kind != MeshKind::uniform) return FactorKind::general;
  return coefficient == CoefficientKind::constant ? FactorKind::constant : FactorKind::scaled;
}

CoefficientKind coefficient_kind(const ScalarField& coefficient) {
  if (coefficient.constant) return CoefficientKind::constant;
  return is_separable(coefficient) ? CoefficientKind::separable : CoefficientKind::general;
}

MeshKind mesh_kind(const Discretization& discretization) {
  if (!discretization.mapping.is_cartesian()) return MeshKind::mapped;
  return discretization.mesh.is_uniform() ? MeshKind::uniform : MeshKind::graded;
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
          form.dirichlet};
}

FormShape on_level(const FormShape& shape, const BoxMesh& mesh, int degree) {
  FormShape level = shape;
  level.mesh = mesh;
  level.lattice = NodeLattice(mesh, degree);
  level.points = degree + shape.points - shape.degree();
  // Cells of different sizes may become equal ones, or a single one.
  if (shape.mesh_kind == MeshKind::graded && mesh.is_uniform()) level.mesh_kind = MeshKind::uniform;
  return level;
}

}  // namespace tessera
