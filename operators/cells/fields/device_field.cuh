// This device function evaluates a field that may depend on u.
#pragma once

#include "operators/cells/fields/device_field.hpp"
#include "operators/cells/fields/device_program.cuh"

namespace tessera {

/// The value of a field at a point.
/// @param u there; means nothing to fields that do not depend on it
__device__ inline double value_at(const DeviceFieldView& field, const double (&x)[3], double u) {
  double sum = 0.0;
  for (int k = 0; k < field.count; ++k) {
    const FieldTermView& term = field.terms[k];
    const FieldProgramView& program = term.program;
    if (term.is_derivative) {
      using Number = Dual<double, 1>;
      Number stack[DeviceProgram::kShallow];
      const auto other = [&](Operand operand) {
        return operand == Operand::t ? Number(program.t, 0.0) : Number(u, 1.0);
      };
      sum +=
          term.factor * evaluate(program, Number(x[0], 0.0), Number(x[1], 0.0), Number(x[2], 0.0),
                                 other, [&](int i) -> Number& { return stack[i]; })
                            .d[0];
    } else {
      double stack[DeviceProgram::kShallow];
      const auto other = [&](Operand operand) { return operand == Operand::t ? program.t : u; };
      sum += term.factor *
             evaluate(program, x[0], x[1], x[2], other, [&](int i) -> double& { return stack[i]; });
    }
  }
  return field.is_magnitude ? fabs(sum) : sum;
}

}  // namespace tessera
