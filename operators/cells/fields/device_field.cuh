// This device function evaluates a field that may depend on u.
#pragma once

#include "operators/cells/fields/device_field.hpp"
#include "operators/cells/fields/device_program.cuh"

namespace tessera {

/// The derivative in u of a program.
template <int depth, class Number>
__device__ inline Number derivative_at(const FieldProgramView& program, const Number (&x)[3],
                                       const Number& u) {
  using WithDerivative = Dual<Number, 1>;
  WithDerivative stack[depth];
  const Number zero(0.0);
  const auto other = [&](Operand operand) {
    return operand == Operand::t ? WithDerivative(Number(program.t), zero)
                                 : WithDerivative(u, Number(1.0));
  };
  const WithDerivative value = evaluate(program, WithDerivative(x[0], zero),
                                        WithDerivative(x[1], zero), WithDerivative(x[2], zero),
                                        other, [&](int i) -> WithDerivative& { return stack[i]; });
  return value.d[0];
}

/// The value of a field at a point, or, of LineValues, its values along a line.
/// @tparam terms all terms are of these, are_all()
/// @tparam depth of the stack that there is room for, field.depth or more
/// @param u there; means nothing to fields that do not depend on it
template <TermsAre terms = TermsAre::any, int depth = DeviceProgram::kShallow, class Number>
__device__ inline Number value_at(const DeviceFieldView& field, const Number (&x)[3],
                                  const Number& u) {
  using std::abs;
  if (field.is_constant) return Number(field.constant);
  Number sum(0.0);
  for (int k = 0; k < field.count; ++k) {
    const FieldTermView& term = field.terms[k];
    const Number factor(term.factor);
    if constexpr (terms != TermsAre::values) {
      if (terms == TermsAre::derivatives || term.is_derivative) {
        sum = sum + factor * derivative_at<depth>(term.program, x, u);
        continue;
      }
    }
    if constexpr (terms != TermsAre::derivatives) {
      Number stack[depth];
      const auto other = [&](Operand operand) {
        return operand == Operand::t ? Number(term.program.t) : u;
      };
      sum = sum + factor * evaluate(term.program, x[0], x[1], x[2], other,
                                    [&](int i) -> Number& { return stack[i]; });
    }
  }
  return field.is_magnitude ? Number(abs(sum)) : sum;
}

}  // namespace tessera
