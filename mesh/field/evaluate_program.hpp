// This template runs a field's program for any type of number.
#pragma once

#include <cmath>

#include "mesh/field/field_program.hpp"

namespace tessera {

/// What programs ask of a type of number besides arithmetic, a constructor from double and the
/// functions of <cmath> that the operations name: these, here for double and float. Comparisons
/// give 1 or 0. Pack (pack.hpp) is such a type for SIMD, Dual (dual.hpp) for derivatives.
constexpr double less(double a, double b) { return a < b ? 1.0 : 0.0; }
constexpr float less(float a, float b) { return a < b ? 1.0F : 0.0F; }
constexpr double less_equal(double a, double b) { return a <= b ? 1.0 : 0.0; }
constexpr float less_equal(float a, float b) { return a <= b ? 1.0F : 0.0F; }
constexpr double equal(double a, double b) { return a == b ? 1.0 : 0.0; }
constexpr float equal(float a, float b) { return a == b ? 1.0F : 0.0F; }
constexpr double select(double condition, double yes, double no) {
  return condition != 0.0 ? yes : no;
}
constexpr float select(float condition, float yes, float no) {
  return condition != 0.0F ? yes : no;
}

/// base^exponent by multiplications.
template <class Number>
constexpr Number integer_power(const Number& base, int exponent) {
  Number factor = exponent < 0 ? Number(1.0) / base : base;
  Number result(1.0);
  for (int rest = exponent < 0 ? -exponent : exponent; rest > 0; rest /= 2) {
    if (rest % 2 == 1) result = result * factor;
    if (rest > 1) factor = factor * factor;
  }
  return result;
}

template <class Number>
constexpr Number with_one_argument(Operation operation, const Number& a, double parameter) {
  using std::abs, std::sqrt, std::exp, std::log, std::log2, std::log10, std::floor;
  using std::acos, std::acosh, std::asinh, std::atan, std::atanh, std::cosh, std::sinh, std::tanh;
  using std::sin, std::cos, std::tan, std::asin;
  switch (operation) {
    case Operation::integer_power:
      return integer_power(a, static_cast<int>(parameter));
    case Operation::negate:
      return -a;
    case Operation::sin:
      return sin(a);
    case Operation::cos:
      return cos(a);
    case Operation::tan:
      return tan(a);
    case Operation::asin:
      return asin(a);
    case Operation::acos:
      return acos(a);
    case Operation::atan:
      return atan(a);
    case Operation::sinh:
      return sinh(a);
    case Operation::cosh:
      return cosh(a);
    case Operation::tanh:
      return tanh(a);
    case Operation::asinh:
      return asinh(a);
    case Operation::acosh:
      return acosh(a);
    case Operation::atanh:
      return atanh(a);
    case Operation::exp:
      return exp(a);
    case Operation::log:
      return log(a);
    case Operation::log2:
      return log2(a);
    case Operation::log10:
      return log10(a);
    case Operation::sqrt:
      return sqrt(a);
    case Operation::abs:
      return abs(a);
    case Operation::sign:
      return less(Number(0.0), a) - less(a, Number(0.0));
    case Operation::rint:
      return floor(a + Number(0.5));
    default:
      return a;
  }
}

template <class Number>
constexpr Number with_two_arguments(Operation operation, const Number& a, const Number& b) {
  using std::atan2, std::pow;
  const auto truth = [](const Number& number) { return select(number, Number(1.0), Number(0.0)); };
  switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::reversed_subtract:
      return b - a;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return a / b;
    case Operation::reversed_divide:
      return b / a;
    case Operation::power:
      return pow(a, b);
    case Operation::reversed_power:
      return pow(b, a);
    case Operation::atan2:
      return atan2(a, b);
    case Operation::reversed_atan2:
      return atan2(b, a);
    case Operation::minimum:
      return select(less(b, a), b, a);
    case Operation::maximum:
      return select(less(a, b), b, a);
    case Operation::less:
      return less(a, b);
    case Operation::less_equal:
      return less_equal(a, b);
    case Operation::greater:
      return less(b, a);
    case Operation::greater_equal:
      return less_equal(b, a);
    case Operation::equal:
      return equal(a, b);
    case Operation::not_equal:
      return Number(1.0) - equal(a, b);
    case Operation::logical_and:
      return select(a, truth(b), Number(0.0));
    case Operation::logical_or:
      return select(a, Number(1.0), truth(b));
    default:
      return a;
  }
}

/// What u is where it is not known: not a number.
inline constexpr double kUnknownU = __builtin_nan("");

/// The instructions of a program and what goes around them, as kernels take it: see FieldProgram.
struct FieldProgramView {
  const Instruction* code;
  int instructions;
  double origin[3];
  double length;
  double subtracted;
  double divisor;
  double t;
  double unit_of_u;
};

inline FieldProgramView view_of(const FieldProgram& program) {
  return {program.code.data(),
          static_cast<int>(program.code.size()),
          {program.origin[0], program.origin[1], program.origin[2]},
          program.length,
          program.subtracted,
          program.divisor,
          program.t,
          program.unit_of_u};
}

/// The value of a program at x, y, z; costs about an instruction's arithmetic and two moves each.
/// @param other other(Operand::t) and other(Operand::u) are the numbers that stand for t and u
/// @param slot slot(i) is the place of value i of the stack but for the top, 0 <= i < depth
template <class Number, class Other, class Slots>
constexpr Number evaluate(const FieldProgramView& program, const Number& x, const Number& y,
                          const Number& z, Other&& other, Slots&& slot) {
  const Number length(program.length);
  const bool is_physical = program.length == 1.0 && program.origin[0] == 0.0 &&
                           program.origin[1] == 0.0 && program.origin[2] == 0.0;
  const auto at = [&](const Number& position, int d) {
    return is_physical ? position : Number(program.origin[d]) + length * position;
  };
  Number top(0.0);
  int below = 0;
  for (int i = 0; i < program.instructions; ++i) {
    const Instruction instruction = program.code[i];
    if (has_one_argument(instruction.operation)) {
      top = with_one_argument(instruction.operation, top, instruction.value);
      continue;
    }
    if (instruction.operation == Operation::select) {
      below -= 2;
      top = select(slot(below), slot(below + 1), top);
      continue;
    }
    Number right = top;
    switch (instruction.operand) {
      case Operand::stack:
        top = slot(--below);
        break;
      case Operand::constant:
        right = Number(instruction.value);
        break;
      case Operand::x:
        right = at(x, 0);
        break;
      case Operand::y:
        right = at(y, 1);
        break;
      case Operand::z:
        right = at(z, 2);
        break;
      case Operand::t:
        right = other(Operand::t);
        break;
      case Operand::u:
        right = Number(program.unit_of_u) * other(Operand::u);
        break;
    }
    if (instruction.operation == Operation::push) {
      slot(below++) = top;
      top = right;
    } else {
      top = with_two_arguments(instruction.operation, top, right);
    }
  }
  if (program.subtracted != 0.0) top = top - Number(program.subtracted);
  return program.divisor == 1.0 ? top : top / Number(program.divisor);
}
/// The same at the program's own t; u is not known.
template <class Number, class Slots>
constexpr Number evaluate(const FieldProgramView& program, const Number& x, const Number& y,
                          const Number& z, Slots&& slot) {
  return evaluate(
      program, x, y, z,
      [&](Operand operand) {
        return operand == Operand::t ? Number(program.t) : Number(kUnknownU);
      },
      slot);
}

}  // namespace tessera
