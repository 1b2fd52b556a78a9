// These functions evaluate programs for many points on the host.
#pragma once

#include <array>

#include "mesh/field/field_program.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// The values of a program at points, in SIMD registers. A value does not depend on which other
/// points there are.
/// @param values [points.n]
void evaluate(const FieldProgram& program, const PointBlock& points, double* values);

/// The exact derivatives of a program at points.
/// @param gradient an array [points.n] for each axis
void evaluate_gradient(const FieldProgram& program, const PointBlock& points,
                       const std::array<double*, 3>& gradient);

/// The exact derivatives of a program in t.
/// @param values [points.n]
void evaluate_rate(const FieldProgram& program, const PointBlock& points, double* values);

/// The field of a program that depends on position.
ScalarField program_field(FieldProgram program);

}  // namespace tessera
