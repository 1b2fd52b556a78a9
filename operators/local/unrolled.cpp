// This file instantiates the local kernel for each degree.
#include "operators/local/unrolled.hpp"

#include <utility>

#include "operators/cells/matrix_free.hpp"
#include "operators/cells/with_size.hpp"

namespace tessera {
template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_local_operator(
    const BilinearForm& form, std::shared_ptr<const CellBatches> batches,
    std::shared_ptr<GeometricFactors<T>> factors, std::unique_ptr<Scatter<T>> scatter) {
  auto matrices =
      std::make_shared<const LocalMatrices<T>>(*form.discretization, *batches, std::move(factors));
  const Discretization& discretization = *form.discretization;
  return with_size(discretization.mesh.dimension(), discretization.basis.degree,
                   [&]<int dim, int P>() -> std::unique_ptr<LinearOperator<T, Host>> {
                     using Kernel = LocalKernel<T, dim, P>;
                     return std::make_unique<MatrixFree<Kernel>>(
                         form, std::move(batches),
                         Kernel(discretization.basis.node_count(), std::move(matrices)),
                         std::move(scatter));
                   });
}

#define TESSERA_INSTANTIATE(T)                                           \
  template std::unique_ptr<LinearOperator<T, Host>> make_local_operator( \
      const BilinearForm&, std::shared_ptr<const CellBatches>,           \
      std::shared_ptr<GeometricFactors<T>>, std::unique_ptr<Scatter<T>>);

TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(float)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
