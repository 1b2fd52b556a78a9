// This file instantiates the local kernel for each degree.
#include "operators/local/unrolled.hpp"

#include <utility>

#include "operators/cells/matrix_free.hpp"

namespace tessera {
namespace {

template <class T, int dim, int P>
std::unique_ptr<LinearOperator<T, Host>> make_for_degree(
    const BilinearForm& form, std::shared_ptr<const CellBatches> batches,
    std::shared_ptr<const LocalMatrices<T>> matrices, std::unique_ptr<Scatter<T>> scatter) {
  if constexpr (P > 0) {
    if (form.discretization->basis.degree != P) {
      return make_for_degree<T, dim, P - 1>(form, std::move(batches), std::move(matrices),
                                            std::move(scatter));
    }
  }
  using Kernel = LocalKernel<T, dim, P>;
  return std::make_unique<MatrixFree<Kernel>>(
      form, std::move(batches),
      Kernel(form.discretization->basis.node_count(), std::move(matrices)), std::move(scatter));
}

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_local_operator(
    const BilinearForm& form, std::shared_ptr<const CellBatches> batches,
    std::shared_ptr<const GeometricFactors<T>> factors, std::unique_ptr<Scatter<T>> scatter) {
  auto matrices =
      std::make_shared<const LocalMatrices<T>>(*form.discretization, *batches, std::move(factors));
  const bool is_2d = form.discretization->mesh.dimension() == 2;
  return (is_2d ? make_for_degree<T, 2, kMaxFastDegree>
                : make_for_degree<T, 3, kMaxFastDegree>)(form, std::move(batches),
                                                         std::move(matrices), std::move(scatter));
}

#define TESSERA_INSTANTIATE(T)                                           \
  template std::unique_ptr<LinearOperator<T, Host>> make_local_operator( \
      const BilinearForm&, std::shared_ptr<const CellBatches>,           \
      std::shared_ptr<const GeometricFactors<T>>, std::unique_ptr<Scatter<T>>);

TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(float)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
