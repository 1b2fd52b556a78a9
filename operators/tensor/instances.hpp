// These templates make the tensor kernels of the host for one dimension and precision.
#pragma once

#include <memory>
#include <utility>

#include "operators/cells/matrix_free.hpp"
#include "operators/tensor/kernel.hpp"

namespace tessera {

/// The parts of make_tensor_operator() and make_element_kernel() for one dimension and
/// precision: each pair is one translation unit, so that they compile side by side.
template <class T, int dim>
struct TensorInstances {
  static std::unique_ptr<LinearOperator<T, Host>> make_operator(
      const BilinearForm& form, FactorStorage storage, std::shared_ptr<const CellBatches> batches,
      std::unique_ptr<Scatter<T>> scatter);
  static std::unique_ptr<CellKernel<T>> make_element_kernel(
      const Discretization& discretization, std::shared_ptr<const GeometricFactors<T>> factors);
};

/// Calls make(kernel) with the kernel type for this basis, which is given the factors or what
/// computes them: tries degrees P, P - 1, ... 1.
template <class T, int dim, int P = kMaxFastDegree, class Factors, class Make>
auto with_tensor_kernel(const Basis1D& basis, Factors factors, Make&& make) {
  if constexpr (P == 0) {
    return make(TensorKernel<T, dim, 0, 0>(basis, std::move(factors)));
  } else {
    if (basis.degree == P && basis.point_count() == P + 1) {
      return make(TensorKernel<T, dim, P, P + 1>(basis, std::move(factors)));
    }
    if (basis.degree == P && basis.point_count() == P + 2) {
      return make(TensorKernel<T, dim, P, P + 2>(basis, std::move(factors)));
    }
    return with_tensor_kernel<T, dim, P - 1>(basis, std::move(factors), std::forward<Make>(make));
  }
}

template <class T, int dim>
std::unique_ptr<LinearOperator<T, Host>> TensorInstances<T, dim>::make_operator(
    const BilinearForm& form, FactorStorage storage, std::shared_ptr<const CellBatches> batches,
    std::unique_ptr<Scatter<T>> scatter) {
  const Discretization& discretization = *form.discretization;
  using Result = std::unique_ptr<LinearOperator<T, Host>>;
  if (storage == FactorStorage::on_the_fly) {
    return with_tensor_kernel<T, dim>(
        discretization.basis, make_batch_geometry<T>(form, *batches),
        [&]<class Kernel>(Kernel kernel) -> Result {
          using Any = AnyCellKernel<T, dim>;
          return std::make_unique<MatrixFree<Any>>(
              form, batches, Any(std::make_unique<const ErasedKernel<Kernel>>(std::move(kernel))),
              std::move(scatter));
        });
  }
  return with_tensor_kernel<T, dim>(
      discretization.basis,
      std::make_shared<const GeometricFactors<T>>(discretization, *batches, form.coefficient),
      [&]<class Kernel>(Kernel kernel) -> Result {
        return std::make_unique<MatrixFree<Kernel>>(form, batches, std::move(kernel),
                                                    std::move(scatter));
      });
}

template <class T, int dim>
std::unique_ptr<CellKernel<T>> TensorInstances<T, dim>::make_element_kernel(
    const Discretization& discretization, std::shared_ptr<const GeometricFactors<T>> factors) {
  return with_tensor_kernel<T, dim>(
      discretization.basis, std::move(factors),
      []<class Kernel>(Kernel kernel) -> std::unique_ptr<CellKernel<T>> {
        return std::make_unique<ErasedKernel<Kernel>>(std::move(kernel));
      });
}

extern template struct TensorInstances<double, 2>;
extern template struct TensorInstances<double, 3>;
extern template struct TensorInstances<float, 2>;
extern template struct TensorInstances<float, 3>;

}  // namespace tessera
