// What the table of strategies says of the kernels of local matrices, and what makes their
// operators.
#include "operators/local/row.hpp"

#include <algorithm>

#include "mesh/saturated.hpp"
#include "operators/cells/batching.hpp"
#include "operators/cells/cell_kernel_limits.hpp"
#include "operators/cells/device_matrix_free.hpp"
#include "operators/cells/element_kernel.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/local/device_local.hpp"
#include "operators/local/unrolled.hpp"
#include "solvers/configuration.hpp"

namespace tessera {
namespace {

OperatorBytes cpu_bytes(const StrategyName&, const FormShape& shape) {
  const Index matrices = local_matrix_bytes(
      shape.factors(), shape.dimension(), batched_cells(shape), shape.degree(), shape.value_bytes);
  return {matrices, Saturated(matrices) + element_factor_bytes(shape)};
}

Index gpu_matrix_bytes(const FormShape& shape) {
  return device_local_matrix_bytes(shape.factors(), shape.dimension(), shape.mesh.cell_count(),
                                   shape.degree(), shape.value_bytes);
}

OperatorBytes gpu_bytes(const StrategyName&, const FormShape& shape) {
  const Index matrices = gpu_matrix_bytes(shape);
  return {matrices, std::max<Index>(device_element_kernel_peak_bytes(shape),
                                    Saturated(device_element_kernel_bytes(shape)) + matrices)};
}

OperatorBytes gpu_thread_bytes(const StrategyName& strategy, const FormShape& shape) {
  const OperatorBytes bytes = gpu_bytes(strategy, shape);
  return {bytes.held, Saturated(bytes.peak) + std::min(bytes.held, kLocalScratchBytes)};
}

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make(const StrategyName& strategy,
                                              const BilinearForm& form) {
  const Discretization& discretization = *form.discretization;
  const auto batches = make_batches<T>(discretization);
  auto factors = std::make_shared<GeometricFactors<T>>(discretization, *batches, form.coefficient,
                                                       form.reaction, form.context());
  return make_local_operator<T>(
      form, batches, std::move(factors),
      make_scatter<T>(strategy.scatter, *batches, discretization.lattice));
}

template <class T, auto make_kernel>
std::unique_ptr<LinearOperator<T, Device>> make_on_device(const StrategyName& strategy,
                                                          const BilinearForm& form) {
  return make_device_matrix_free<T>(form, make_kernel(form, *make_device_element_kernel<T>(form)),
                                    *find_scatter(strategy.scatter)->on_gpu);
}

}  // namespace

KernelInfo local_kernel() {
  return {.name = "local",
          .summary =
              "precomputed local matrices, one for all cells where they are alike (element "
              "assembly); GPU: a thread block a batch of cells",
          .fast_degrees = "CPU " TESSERA_FAST_DEGREES " unrolled, others at run-time size; GPU any",
          .memory =
              "one matrix on a uniform mesh with constant coefficient, else 4 (GPU: 8) (p + 1)^2d "
              "B a cell",
          .scatter = TakesScatter::yes,
          .cpu_bytes = cpu_bytes,
          .gpu_bytes = gpu_bytes,
          .make = makers_of<MakeOperator>(
              []<class T>() { return make<T>; },
              []<class T>() { return make_on_device<T, make_device_local_kernel<T>>; })};
}

KernelInfo local_thread_kernel() {
  return {.name = "local-thread",
          .summary =
              "the same, one GPU thread a cell, as in the paper on matrix-free operators on GPUs",
          .fast_degrees = "any degree",
          .memory = "as local",
          .scatter = TakesScatter::yes,
          .gpu_bytes = gpu_thread_bytes,
          .make = makers_on_gpu<MakeOperator>(
              []<class T>() { return make_on_device<T, make_device_local_thread_kernel<T>>; })};
}

}  // namespace tessera
