// What the table of strategies says of the kernel kronecker, and what makes its operators.
#include "operators/kronecker/row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "operators/cells/cell_kernel_limits.hpp"
#include "operators/kronecker/device_data.hpp"
#include "operators/kronecker/device_kronecker.hpp"
#include "operators/kronecker/kronecker.hpp"
#include "operators/kronecker/resident/bricks.hpp"

namespace tessera {
namespace {

OperatorBytes cpu_bytes(const StrategyName&, const FormShape& shape) {
  const Index bytes = kronecker_bytes(shape.mesh, shape.degree(), shape.value_bytes);
  return {bytes, bytes};
}

OperatorBytes gpu_bytes(const StrategyName&, const FormShape& shape) {
  const Index bytes = device_kronecker_bytes(shape.mesh, shape.degree(), shape.value_bytes);
  return {bytes, bytes};
}

// As measured on an H100 (README.md), by degree. Where cells are not equal, both kernels are
// others.
constexpr Index kEqualCells[] = {100'000,   100'000,   250'000,   900'000,
                                 1'000'000, 1'200'000, 2'200'000, 3'000'000};
constexpr Index kOtherCells[] = {100'000, 100'000, 100'000, 100'000,
                                 900'000, 250'000, 900'000, 250'000};
static_assert(std::size(kEqualCells) == std::size(kOtherCells));
constexpr Index kHigherDegrees = 2'000'000;

Index min_dofs_on_gpu(const FormShape& shape) {
  if (shape.degree() > std::ssize(kEqualCells)) return kHigherDegrees;
  if (shape.dimension() == 2) return 0;
  const bool is_equal = shape.factors() == FactorKind::constant;
  return (is_equal ? kEqualCells : kOtherCells)[shape.degree() - 1];
}

// "0.1 to 3 million"
std::string min_dofs_text() {
  const auto [least_equal, most_equal] =
      std::minmax_element(std::begin(kEqualCells), std::end(kEqualCells));
  const auto [least_other, most_other] =
      std::minmax_element(std::begin(kOtherCells), std::end(kOtherCells));
  const auto millions = [](Index count) { return 1e-6 * static_cast<double>(count); };
  return fmt::format("{:.3g} to {:.3g} million",
                     millions(std::min({*least_equal, *least_other, kHigherDegrees})),
                     millions(std::max({*most_equal, *most_other, kHigherDegrees})));
}

bool iterates_in_one_kernel(const FormShape& shape) {
  if (shape.processor != Processor::gpu || shape.degree() > kMaxFastDegree ||
      shape.value_bytes != sizeof(double) || shape.factors() != FactorKind::constant) {
    return false;
  }
  return resident_cg_bytes(shape.mesh, shape.degree()).has_value();
}

bool fuses_steps(const FormShape& shape) {
  return shape.processor == Processor::gpu && shape.degree() <= kMaxFastDegree &&
         shape.factors() == FactorKind::constant &&
         has_step_kernel(shape.dimension(), static_cast<std::size_t>(shape.value_bytes));
}

std::string why_not(const StrategyName&, const FormShape& shape) {
  return why_not_kronecker(shape.mesh_kind, shape.coefficient, shape.reaction);
}

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make(const StrategyName&, const BilinearForm& form) {
  return make_kronecker_operator<T>(form);
}

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_on_device(const StrategyName&,
                                                          const BilinearForm& form) {
  return make_device_kronecker_operator<T>(form);
}

}  // namespace

KernelInfo kronecker_kernel() {
  return {.name = "kronecker",
          .summary =
              "sum of Kronecker products of assembled 1D matrices, without cells; axis-aligned "
              "meshes with a coefficient that is constant or a product of functions of one "
              "coordinate; a reaction that is constant beside a constant coefficient",
          .fast_degrees = TESSERA_FAST_DEGREES " unrolled, others at run-time size",
          .memory = "1D factors only",
          .min_dofs_on_gpu = min_dofs_on_gpu,
          .min_dofs_text = min_dofs_text(),
          .iterates_in_one_kernel = iterates_in_one_kernel,
          .fuses_steps = fuses_steps,
          .cpu_bytes = cpu_bytes,
          .gpu_bytes = gpu_bytes,
          .why_not = why_not,
          .make = makers_of<MakeOperator>([]<class T>() { return make<T>; },
                                          []<class T>() { return make_on_device<T>; })};
}

}  // namespace tessera
