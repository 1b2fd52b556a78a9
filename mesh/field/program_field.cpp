// This file evaluates programs pack by pack.
#include "mesh/field/program_field.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "mesh/field/dual.hpp"
#include "mesh/field/pack.hpp"

namespace tessera {
namespace {

constexpr std::size_t kPoints = Pack::kPoints;

// The coordinates of up to kPoints points; those beyond the last point are 0.
Pack loaded(const double* from, std::size_t count) {
  Pack pack;
  if (count < kPoints) pack = Pack(0.0);
  std::memcpy(pack.lanes, from, count * sizeof(double));
  return pack;
}

void store(const Pack& pack, std::size_t count, double* to) {
  std::memcpy(to, pack.lanes, count * sizeof(double));
}

// Calls use(first, count, x, y, z) for all points, a pack at a time.
template <class Use>
void for_each_pack(const PointBlock& points, Use&& use) {
  for (std::size_t first = 0; first < points.n; first += kPoints) {
    const std::size_t count = std::min(kPoints, points.n - first);
    use(first, count, loaded(points.x + first, count), loaded(points.y + first, count),
        loaded(points.z + first, count));
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

void evaluate(const FieldProgram& program, const PointBlock& points, double* values) {
  const FieldProgramView view = view_of(program);
  std::vector<Pack>& stack = stack_of<Pack>(program);
  for_each_pack(points, [&](std::size_t first, std::size_t count, const Pack& x, const Pack& y,
                            const Pack& z) {
    store(evaluate(view, x, y, z, [&](int i) -> Pack& { return stack[i]; }), count, values + first);
  });
}

void evaluate_gradient(const FieldProgram& program, const PointBlock& points,
                       const std::array<double*, 3>& gradient) {
  using Number = Dual<Pack>;
  const FieldProgramView view = view_of(program);
  std::vector<Number>& stack = stack_of<Number>(program);
  const Pack zero(0.0);
  const Pack one(1.0);
  for_each_pack(points, [&](std::size_t first, std::size_t count, const Pack& x, const Pack& y,
                            const Pack& z) {
    const Number result =
        evaluate(view, Number(x, one, zero, zero), Number(y, zero, one, zero),
                 Number(z, zero, zero, one), [&](int i) -> Number& { return stack[i]; });
    for (int d = 0; d < 3; ++d) store(result.d[d], count, gradient[d] + first);
  });
}

void evaluate_rate(const FieldProgram& program, const PointBlock& points, double* values) {
  using Number = Dual<Pack, 1>;
  const FieldProgramView view = view_of(program);
  std::vector<Number>& stack = stack_of<Number>(program);
  const Pack zero(0.0);
  const Number time(Pack(program.t), Pack(1.0));
  for_each_pack(points, [&](std::size_t first, std::size_t count, const Pack& x, const Pack& y,
                            const Pack& z) {
    const Number result = evaluate(
        view, Number(x, zero), Number(y, zero), Number(z, zero), [&] { return time; },
        [&](int i) -> Number& { return stack[i]; });
    store(result.d[0], count, values + first);
  });
}

ScalarField program_field(FieldProgram program) {
  auto shared = std::make_shared<const FieldProgram>(std::move(program));
  return {[shared](const PointBlock& points, double* values) { evaluate(*shared, points, values); },
          std::nullopt, nullptr, shared};
}

}  // namespace tessera
