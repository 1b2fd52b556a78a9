// Block Jacobi on the GPU, whose matrix is assembled there.
#include "operators/block_jacobi/block_jacobi.hpp"
#include "operators/cells/element_kernel.hpp"
#include "operators/csr/device_csr.hpp"

namespace tessera {

// The matrix is gone before eigenvalues are looked for, and what it is made from before that.
#define TESSERA_MAKE_BLOCK_JACOBI(T)                                                               \
  template <>                                                                                      \
  std::unique_ptr<BlockJacobi<T, Device>> make_block_jacobi(                                       \
      const BilinearForm& form, const BlockJacobiOptions& options, const IndexTriple& brick) {     \
    const RowBlocks blocks = make_node_bricks(form.discretization->lattice, brick);                \
    auto rows = make_block_rows(assemble_on_device<T>(form, *make_device_element_kernel<T>(form)), \
                                blocks);                                                           \
    return std::make_unique<BlockJacobi<T, Device>>(std::move(rows), options);                     \
  }
TESSERA_MAKE_BLOCK_JACOBI(double)
TESSERA_MAKE_BLOCK_JACOBI(float)
#undef TESSERA_MAKE_BLOCK_JACOBI

}  // namespace tessera
