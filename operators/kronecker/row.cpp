// What the table of strategies says of the kernel kronecker, and what makes its operators.
#include "operators/kronecker/row.hpp"

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
Index min_dofs_of_equal_cells(int dimension, int p) {
  if (dimension == 2 && p <= kMaxFastDegree) return 0;
  switch (p) {
    case 1:
    case 2:
      return 100'000;
    case 3:
      return 250'000;
    case 4:
      return 900'000;
    case 5:
      return 1'000'000;
    case 6:
      return 1'200'000;
    case 7:
      return 2'200'000;
    case 8:
      return 3'000'000;
    default:
      return 2'000'000;
  }
}

Index min_dofs_on_gpu(const FormShape& shape) {
  if (shape.factors() == FactorKind::constant) {
    return min_dofs_of_equal_cells(shape.dimension(), shape.degree());
  }
  const bool is_3d = shape.dimension() == 3;
  switch (shape.degree()) {
    case 1:
      return is_3d ? 100'000 : 250'000;
    case 2:
      return is_3d ? 250'000 : 500'000;
    case 3:
    case 4:
      return is_3d ? 1'200'000 : 1'400'000;
    default:
      return 2'000'000;
  }
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
