// These device functions evaluate programs at a point, and check their values.
#pragma once

#include <type_traits>

#include "mesh/field/dual.hpp"
#include "operators/cells/fields/device_program.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {

/// The value of a program at a point, for Dual with its derivatives.
/// @param stacks null, or the stacks of a deep program: value i of a thread is at
///        stacks[i * (threads of the grid) + thread], in a grid of blocks of `threads` threads
///        along x
/// @param u of programs that depend on it, a constant where derivatives are taken
template <int threads, class Number>
__device__ Number evaluate_at(const FieldProgramView& program, Number* stacks, double x, double y,
                              double z, double u = kUnknownU) {
  const auto variable = [](double value, int d) {
    if constexpr (std::is_same_v<Number, double>) {
      return value;
    } else {
      return Number(value, d == 0 ? 1.0 : 0.0, d == 1 ? 1.0 : 0.0, d == 2 ? 1.0 : 0.0);
    }
  };
  const Number X = variable(x, 0);
  const Number Y = variable(y, 1);
  const Number Z = variable(z, 2);
  const auto other = [&](Operand operand) { return Number(operand == Operand::t ? program.t : u); };
  if (stacks == nullptr) {
    Number stack[DeviceProgram::kShallow];
    return evaluate(program, X, Y, Z, other, [&](int k) -> Number& { return stack[k]; });
  }
  const Index stride = thread_count<threads>();
  Number* const mine = stacks + thread_number<threads>();
  return evaluate(program, X, Y, Z, other, [&](int k) -> Number& { return mine[k * stride]; });
}

__device__ inline bool is_allowed(double value, Allowed allowed) {
  return isfinite(value) && (allowed == Allowed::finite || value > 0.0 ||
                             (allowed == Allowed::non_negative && value == 0.0));
}

}  // namespace tessera
