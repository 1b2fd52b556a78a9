// This file evaluates programs pack by pack.
#include "mesh/field/program_field.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mesh/field/dual.hpp"
#include "mesh/field/field_terms.hpp"
#include "mesh/field/pack.hpp"

namespace tessera {
namespace {

constexpr std::size_t kPoints = Pack::kPoints;

// The coordinates of up to kPoints points; those beyond the last point are 0. No u is not a number.
Pack loaded(const double* from, std::size_t count) {
  Pack pack;
  if (count < kPoints) pack = Pack(0.0);
  std::memcpy(pack.lanes, from, count * sizeof(double));
  return pack;
}

void store(const Pack& pack, std::size_t count, double* to) {
  std::memcpy(to, pack.lanes, count * sizeof(double));
}

// What some points have: positions and u.
struct PointPack {
  Pack x;
  Pack y;
  Pack z;
  Pack u;
};

// Calls use(first, count, pack) for all points, a pack at a time.
template <class Use>
void for_each_pack(const PointBlock& points, Use&& use) {
  PointPack pack;
  pack.u = Pack(kUnknownU);
  for (std::size_t first = 0; first < points.n; first += kPoints) {
    const std::size_t count = std::min(kPoints, points.n - first);
    pack.x = loaded(points.x + first, count);
    pack.y = loaded(points.y + first, count);
    pack.z = loaded(points.z + first, count);
    if (points.u != nullptr) pack.u = loaded(points.u + first, count);
    use(first, count, pack);
  }
}

// The stack of a thread, which stays for the next block of points.
template <class Number>
std::vector<Number>& stack_of(const FieldProgram& program) {
  thread_local std::vector<Number> stack;
  if (stack.size() < static_cast<std::size_t>(program.depth)) {
    stack.resize(static_cast<std::size_t>(program.depth));
  }
  return stack;
}

}  // namespace

bool depends_on_u(const FieldProgram& program) {
  return std::any_of(program.code.begin(), program.code.end(), [](const Instruction& instruction) {
    return instruction.operand == Operand::u;
  });
}

void evaluate(const FieldProgram& program, const PointBlock& points, double* values) {
  const FieldProgramView view = view_of(program);
  std::vector<Pack>& stack = stack_of<Pack>(program);
  for_each_pack(points, [&](std::size_t first, std::size_t count, const PointPack& at) {
    const auto other = [&](Operand operand) {
      return operand == Operand::t ? Pack(program.t) : at.u;
    };
    store(evaluate(view, at.x, at.y, at.z, other, [&](int i) -> Pack& { return stack[i]; }), count,
          values + first);
  });
}

void evaluate_gradient(const FieldProgram& program, const PointBlock& points,
                       const std::array<double*, 3>& gradient) {
  using Number = Dual<Pack>;
  const FieldProgramView view = view_of(program);
  std::vector<Number>& stack = stack_of<Number>(program);
  const Pack zero(0.0);
  const Pack one(1.0);
  for_each_pack(points, [&](std::size_t first, std::size_t count, const PointPack& at) {
    const Number result =
        evaluate(view, Number(at.x, one, zero, zero), Number(at.y, zero, one, zero),
                 Number(at.z, zero, zero, one), [&](int i) -> Number& { return stack[i]; });
    for (int d = 0; d < 3; ++d) store(result.d[d], count, gradient[d] + first);
  });
}

void evaluate_derivative(const FieldProgram& program, Operand by, const PointBlock& points,
                         double* values) {
  using Number = Dual<Pack, 1>;
  const FieldProgramView view = view_of(program);
  std::vector<Number>& stack = stack_of<Number>(program);
  const Pack zero(0.0);
  for_each_pack(points, [&](std::size_t first, std::size_t count, const PointPack& at) {
    const auto other = [&](Operand operand) {
      return Number(operand == Operand::t ? Pack(program.t) : at.u,
                    Pack(operand == by ? 1.0 : 0.0));
    };
    const Number result = evaluate(view, Number(at.x, zero), Number(at.y, zero), Number(at.z, zero),
                                   other, [&](int i) -> Number& { return stack[i]; });
    store(result.d[0], count, values + first);
  });
}

void require_u(const PointBlock& points) {
  if (points.u != nullptr || points.n == 0) return;
  throw std::invalid_argument("a field that depends on u is asked for where u is not known");
}

ScalarField program_field(FieldProgram program) {
  const bool has_u = depends_on_u(program);
  auto shared = std::make_shared<const FieldProgram>(std::move(program));
  return {[shared, has_u](const PointBlock& points, double* values) {
            if (has_u) require_u(points);
            evaluate(*shared, points, values);
          },
          std::nullopt, nullptr, shared, has_u};
}

ScalarField derivative_in_u(const ScalarField& field) {
  if (!field.depends_on_u) return constant_field(0.0);
  if (field.program == nullptr) {
    throw std::invalid_argument("the derivative in u of a field that is not known as a program");
  }
  return derivative_field(*field.program, Operand::u);
}

}  // namespace tessera
