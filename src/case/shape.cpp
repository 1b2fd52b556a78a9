// FormShape from a case's parameters.
#include "src/case/shape.hpp"

#include <algorithm>

#include "operators/kronecker/factors/factors.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/setup.hpp"
#include "src/case/time/time_case.hpp"

namespace tessera {

bool has_shape_error(const Findings& findings) {
  return findings.has_error_in("boundary") ||
         std::any_of(kShapeKeys.begin(), kShapeKeys.end(),
                     [&](const char* key) { return findings.has_error(key); });
}

Index value_bytes(Precision precision) {
  return precision == Precision::double_precision ? sizeof(double) : sizeof(float);
}

Processor case_processor(const CaseParameters& parameters) {
  return parameters.run.device == RunDevice::cuda ? Processor::gpu : Processor::cpu;
}

FaceSet case_dirichlet_faces(const CaseParameters& parameters) {
  FaceSet faces;
  for (int face = 0; face < face_count(parameters.mesh.dimension); ++face) {
    faces[face] = parameters.boundary[face].type == BoundaryType::dirichlet;
  }
  return faces;
}

FormShape case_shape(const CaseParameters& parameters) {
  const BoxMesh mesh = make_box_mesh(parameters);
  return {case_processor(parameters),
          value_bytes(parameters.operation.precision),
          mesh,
          NodeLattice(mesh, parameters.space.degree),
          parameters.space.points,
          parameters.mesh.map.empty() ? unmapped_kind(mesh) : MeshKind::mapped,
          coefficient_kind(typical_field(parameters, parameters.problem.coefficient)),
          case_dirichlet_faces(parameters),
          operator_reaction(parameters),
          case_state(parameters)};
}

bool has_varying_robin_face(const CaseParameters& parameters) {
  const int dimension = parameters.mesh.dimension;
  for (int face = 0; face < face_count(dimension); ++face) {
    const BoundaryParameters& condition = parameters.boundary[face];
    if (condition.type != BoundaryType::robin) continue;
    const RobinTerm term{face, typical_field(parameters, *condition.alpha)};
    const ScalarField coefficient = typical_field(parameters, parameters.problem.coefficient);
    if (!is_foldable(term, coefficient, dimension)) return true;
  }
  return false;
}

}  // namespace tessera
