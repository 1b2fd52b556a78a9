// The shape of a case's form, known from the parameters alone.
#pragma once

#include <array>

#include "operators/form/form_shape.hpp"
#include "src/parameters/case_parameters.hpp"
#include "src/parameters/messages/findings.hpp"

namespace tessera {

/// The keys that the shape of a case depends on, beside those of the table boundary.
inline constexpr std::array<const char*, 13> kShapeKeys = {
    "mesh.dimension",      "mesh.cells",       "mesh.lower",       "mesh.upper",
    "mesh.spacing",        "mesh.map",         "space.degree",     "space.points",
    "problem.coefficient", "problem.reaction", "problem.capacity", "problem.source",
    "nonlinear.method"};

/// Whether one of these keys or one of the table boundary has an error: then case_shape() and
/// has_varying_robin_face() must not be asked.
bool has_shape_error(const Findings& findings);

/// Bytes of a value of the operator and the solver's vectors.
Index value_bytes(Precision precision);

/// The processor that the case's operator and solver run on.
Processor case_processor(const CaseParameters& parameters);

/// The faces of the case with Dirichlet conditions.
FaceSet case_dirichlet_faces(const CaseParameters& parameters);

/// What form_shape() will be of the case's form, or with `[time]` of that of a step; coefficient,
/// reaction and capacity must be expressions.
FormShape case_shape(const CaseParameters& parameters);

/// Whether alpha or the coefficient varies on a Robin face of the case, which then is no part of
/// the matrices of its axes (is_foldable()); they must be expressions.
bool has_varying_robin_face(const CaseParameters& parameters);

}  // namespace tessera
