// A FieldProgram is an expression as a flat sequence of instructions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mesh/index.hpp"

namespace tessera {

/// What an instruction does with the value on top of the stack and, for two arguments, with the one
/// below it. Reversed operations have their arguments the other way round, so that either argument
/// may be the one that is computed first.
enum class Operation : std::uint8_t {
  push,
  // Two arguments.
  add,
  subtract,
  reversed_subtract,
  multiply,
  divide,
  reversed_divide,
  power,
  reversed_power,
  atan2,
  reversed_atan2,
  minimum,
  maximum,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  // The exponent is a number of the instruction, -8 .. 8.
  integer_power,
  // One argument.
  negate,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  exp,
  log,
  log2,
  log10,
  sqrt,
  abs,
  sign,
  rint,
  // Three arguments: condition, value where it is not 0, value where it is 0.
  select,
};

constexpr bool has_two_arguments(Operation operation) {
  return Operation::add <= operation && operation <= Operation::logical_or;
}
constexpr bool has_one_argument(Operation operation) {
  return Operation::integer_power <= operation && operation <= Operation::rint;
}

/// Where the value comes from that is pushed, or that is the right argument of two.
enum class Operand : std::uint8_t { stack, constant, x, y, z, t, u };

struct Instruction {
  Operation operation;
  Operand operand;
  /// The constant, or the exponent.
  double value;
};

/// An expression as a flat sequence of instructions for a stack machine, which evaluate_program.hpp
/// runs for any type of number: the instructions are the same at all points, so that SIMD lanes and
/// the threads of a GPU walk through them together.
///
/// The value at x is (expression(origin + length x, t, unit_of_u u) - subtracted) / divisor.
struct FieldProgram {
  std::vector<Instruction> code;
  /// The largest number of values on the stack.
  int depth = 0;
  Point origin = {0.0, 0.0, 0.0};
  double length = 1.0;
  double subtracted = 0.0;
  double divisor = 1.0;
  /// The time.
  double t = 0.0;
  double unit_of_u = 1.0;
};

/// Whether the solution u occurs.
bool depends_on_u(const FieldProgram& program);

}  // namespace tessera
