// What the table of strategies says of the kernel kronecker, and what makes its operators.
#include "operators/kronecker/row.hpp"

#include <iterator>

#include "operators/cells/cell_kernel_limits.hpp"
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

// As measured on an H100 (README.md). Where cells are not equal, both kernels are others.
Index min_dofs_on_gpu(const FormShape& shape) {
  constexpr Index kEqualCells[] = {100'000,   100'000,   250'000,   900'000,
                                   1'000'000, 1'200'000, 2'200'000, 3'000'000};
  constexpr Index kOtherCells[] = {100'000, 100'000, 100'000, 100'000,
                                   900'000, 250'000, 900'000, 250'000};
  static_assert(std::size(kEqualCells) == std::size(kOtherCells));
  if (shape.degree() > std::ssize(kEqualCells)) return 2'000'000;
  if (shape.dimension() == 2) return 0;
  const bool is_equal = shape.factors() == FactorKind::constant;
  return (is_equal ? kEqualCells : kOtherCells)[shape.degree() - 1];
}

bool iterates_in_one_kernel(const FormShape& shape) {
  if (shape.processor != Processor::gpu || shape.degree() > kMaxFastDegree ||
      shape.value_bytes != sizeof(double) || shape.factors() != FactorKind::constant) {
    return false;
  }
  return resident_cg_bytes(shape.mesh, shape.degree()).has_value();
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
          .iterates_in_one_kernel = iterates_in_one_kernel,
          .cpu_bytes = cpu_bytes,
          .gpu_bytes = gpu_bytes,
          .why_not = why_not,
          .make = makers_of<MakeOperator>([]<class T>() { return make<T>; },
                                          []<class T>() { return make_on_device<T>; })};
}

}  // namespace tessera
