// What the table of strategies says of the kernel tensor, and what makes its operators.
#include "operators/tensor/row.hpp"

#include "operators/cells/batching.hpp"
#include "operators/cells/cell_kernel_limits.hpp"
#include "operators/cells/device_matrix_free.hpp"
#include "operators/cells/element_kernel.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/tensor/device_tensor.hpp"
#include "operators/tensor/factor_choice.hpp"
#include "operators/tensor/factor_size.hpp"
#include "operators/tensor/tensor.hpp"

namespace tessera {
namespace {

FactorStorage storage_of(const StrategyName& strategy) {
  return strategy.factors.value_or(FactorStorage::stored);
}

OperatorBytes cpu_bytes(const StrategyName& strategy, const FormShape& shape) {
  const FactorStorage storage = storage_of(strategy);
  const Index held = factor_bytes(storage, shape);
  // What turns out not to be packable is stored.
  return {held, storage == FactorStorage::compressed ? element_factor_bytes(shape) : held};
}

OperatorBytes gpu_bytes(const StrategyName& strategy, const FormShape& shape) {
  return {device_factor_bytes(storage_of(strategy), shape),
          device_factor_peak_bytes(storage_of(strategy), shape)};
}

Index diagonal_bytes_on_gpu(const StrategyName& strategy, const FormShape& shape) {
  return device_diagonal_bytes(storage_of(strategy), shape);
}

std::string why_not(const StrategyName& strategy, const FormShape& shape) {
  const FactorStorage storage = storage_of(strategy);
  const std::string reason = why_no_factors(storage, strategy.scatter, shape);
  return reason.empty() ? why_no_scatter(storage, strategy.scatter, shape) : reason;
}

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make(const StrategyName& strategy,
                                              const BilinearForm& form) {
  const auto batches = make_batches<T>(*form.discretization);
  return make_tensor_operator<T>(
      form, storage_of(strategy), batches,
      make_scatter<T>(strategy.scatter, *batches, form.discretization->lattice));
}

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_on_device(const StrategyName& strategy,
                                                          const BilinearForm& form) {
  return make_device_matrix_free<T>(form, make_device_tensor_kernel<T>(form, storage_of(strategy)),
                                    *find_scatter(strategy.scatter)->on_gpu);
}

}  // namespace

KernelInfo tensor_kernel() {
  return {.name = "tensor",
          .summary = "sum factorization, B^T D B by 1D matrices (partial assembly)",
          .fast_degrees = TESSERA_FAST_DEGREES
          " with degree + 1 or degree + 2 points unrolled, others at run-time size",
          .memory =
              "a uniform mesh stores nothing; a mapped or graded one d (d + 1) / 2 values a "
              "quadrature point, or less: operator.factors",
          .scatter = TakesScatter::yes,
          .factors = TakesFactors::yes,
          .cpu_bytes = cpu_bytes,
          .gpu_bytes = gpu_bytes,
          .diagonal_bytes_on_gpu = diagonal_bytes_on_gpu,
          .why_not = why_not,
          .make = makers_of<MakeOperator>([]<class T>() { return make<T>; },
                                          []<class T>() { return make_on_device<T>; })};
}

}  // namespace tessera
