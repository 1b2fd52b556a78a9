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

/// The exact derivatives of a program in t or u.
/// @param values [points.n]
void evaluate_derivative(const FieldProgram& program, Operand by, const PointBlock& points,
                         double* values);

/// The field of a program that depends on position or u. Where it depends on u, evaluating it
/// without u throws std::invalid_argument.
ScalarField program_field(FieldProgram program);

/// The exact derivative in u, in the frame and unit of the field; where it jumps that of one side.
/// @throws std::invalid_argument if the field depends on u and has no program
ScalarField derivative_in_u(const ScalarField& field);

/// What functions of u do first with their points. @throws std::invalid_argument if u is not known
void require_u(const PointBlock& points);

}  // namespace tessera
