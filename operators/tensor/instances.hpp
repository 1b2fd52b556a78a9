// These templates make the tensor kernels of the host for one dimension and precision.
#pragma once

#include <memory>
#include <utility>

#include "operators/cells/matrix_free.hpp"
#include "operators/tensor/kernel.hpp"
#include "operators/tensor/kernel_2d.hpp"
#include "operators/tensor/kernel_3d.hpp"
#include "operators/tensor/kernel_diagonal.hpp"

namespace tessera {

/// The parts of make_tensor_operator() and make_element_kernel() for one dimension and
/// precision: each pair is one translation unit, so that they compile side by side.
template <class T, int dim>
struct TensorInstances {
  static std::unique_ptr<LinearOperator<T, Host>> make_operator(
      const BilinearForm& form, FactorStorage storage, std::shared_ptr<const CellBatches> batches,
      std::unique_ptr<Scatter<T>> scatter);
  static std::unique_ptr<CellKernel<T>> make_element_kernel(
      const Discretization& discretization, std::shared_ptr<GeometricFactors<T>> factors);
};

/// Calls make(kernel) with the kernel type for this basis, which is given the factors or what
/// computes them.
template <class T, int dim, class Make, class... Factors>
auto with_tensor_kernel(const Basis1D& basis, Make&& make, Factors... factors) {
  return with_rule(basis.degree, basis.point_count(), [&]<int P, int M>() {
    return make(TensorKernel<T, dim, P, M>(basis, std::move(factors)...));
  });
}

template <class T, int dim>
std::unique_ptr<LinearOperator<T, Host>> TensorInstances<T, dim>::make_operator(
    const BilinearForm& form, FactorStorage storage, std::shared_ptr<const CellBatches> batches,
    std::unique_ptr<Scatter<T>> scatter) {
  const Discretization& discretization = *form.discretization;
  using Result = std::unique_ptr<LinearOperator<T, Host>>;
  if (storage == FactorStorage::on_the_fly) {
    return with_tensor_kernel<T, dim>(
        discretization.basis,
        [&]<class Kernel>(Kernel kernel) -> Result {
          using Any = AnyCellKernel<T, dim>;
          return std::make_unique<MatrixFree<Any>>(
              form, batches, Any(std::make_unique<const ErasedKernel<Kernel>>(std::move(kernel))),
              std::move(scatter));
        },
        make_batch_geometry<T>(form, *batches));
  }
  const auto make = [&]<class Kernel>(Kernel kernel) -> Result {
    return std::make_unique<MatrixFree<Kernel>>(form, batches, std::move(kernel),
                                                std::move(scatter));
  };
  if constexpr (dim == 3) {
    if (storage == FactorStorage::compressed && !is_mass(form.coefficient, form.reaction)) {
      auto compressed = std::make_unique<CompressedBatches<T>>(form, *batches);
      if (compressed->are_packed()) {
        return with_tensor_kernel<T, dim>(discretization.basis, make, std::move(compressed));
      }
    }
  }
  return with_tensor_kernel<T, dim>(
      discretization.basis, make,
      std::make_shared<GeometricFactors<T>>(discretization, *batches, form.coefficient,
                                            form.reaction, form.context()),
      storage);
}

template <class T, int dim>
std::unique_ptr<CellKernel<T>> TensorInstances<T, dim>::make_element_kernel(
    const Discretization& discretization, std::shared_ptr<GeometricFactors<T>> factors) {
  return with_tensor_kernel<T, dim>(
      discretization.basis,
      []<class Kernel>(Kernel kernel) -> std::unique_ptr<CellKernel<T>> {
        return std::make_unique<ErasedKernel<Kernel>>(std::move(kernel));
      },
      std::move(factors));
}

extern template struct TensorInstances<double, 2>;
extern template struct TensorInstances<double, 3>;
extern template struct TensorInstances<float, 2>;
extern template struct TensorInstances<float, 3>;

}  // namespace tessera
