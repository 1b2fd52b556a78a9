// This file makes tensor operators on the host.
#include "operators/tensor/tensor.hpp"

#include "operators/cells/element_kernel.hpp"
#include "operators/tensor/instances.hpp"

namespace tessera {

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_tensor_operator(
    const BilinearForm& form, FactorStorage storage, std::shared_ptr<const CellBatches> batches,
    std::unique_ptr<Scatter<T>> scatter) {
  const bool is_2d = form.discretization->mesh.dimension() == 2;
  return (is_2d ? TensorInstances<T, 2>::make_operator : TensorInstances<T, 3>::make_operator)(
      form, storage, std::move(batches), std::move(scatter));
}

template <class T>
std::unique_ptr<CellKernel<T>> make_element_kernel(const Discretization& discretization,
                                                   std::shared_ptr<GeometricFactors<T>> factors) {
  const bool is_2d = discretization.mesh.dimension() == 2;
  return (is_2d ? TensorInstances<T, 2>::make_element_kernel
                : TensorInstances<T, 3>::make_element_kernel)(discretization, std::move(factors));
}

#define TESSERA_INSTANTIATE(T)                                                \
  template std::unique_ptr<LinearOperator<T, Host>> make_tensor_operator(     \
      const BilinearForm&, FactorStorage, std::shared_ptr<const CellBatches>, \
      std::unique_ptr<Scatter<T>>);                                           \
  template std::unique_ptr<CellKernel<T>> make_element_kernel(                \
      const Discretization&, std::shared_ptr<GeometricFactors<T>>);

TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(float)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
