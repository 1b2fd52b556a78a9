// This file makes block Jacobi in GPU memory.
#include "operators/block_jacobi/block_jacobi.hpp"
#include "operators/csr/device_csr.hpp"
#include "operators/tensor/device_tensor.hpp"

namespace tessera {
namespace {

// The factors that it is made from are gone when it is returned.
template <class T>
DeviceSparseRows<T> assemble(BilinearForm form) {
  form.geometry = GeometryForm::stored;
  return assemble_on_device<T>(form, *make_device_tensor_kernel<T>(form));
}

}  // namespace

template <class T>
std::unique_ptr<BlockJacobi<T, Device>> make_device_block_jacobi(const BilinearForm& form,
                                                                 const BlockJacobiOptions& options,
                                                                 const IndexTriple& brick) {
  const RowBlocks blocks = make_node_bricks(form.discretization->lattice, brick);
  // The matrix is gone before eigenvalues are looked for.
  auto rows = make_block_rows(assemble<T>(form), blocks);
  return std::make_unique<BlockJacobi<T, Device>>(std::move(rows), options);
}

template std::unique_ptr<BlockJacobi<double, Device>> make_device_block_jacobi(
    const BilinearForm&, const BlockJacobiOptions&, const IndexTriple&);
template std::unique_ptr<BlockJacobi<float, Device>> make_device_block_jacobi(
    const BilinearForm&, const BlockJacobiOptions&, const IndexTriple&);

}  // namespace tessera
