// This file makes block Jacobi on the host, and knows its memory.
#include "operators/block_jacobi/block_jacobi.hpp"

#include <algorithm>

#include "mesh/saturated.hpp"
#include "operators/csr/csr.hpp"

namespace tessera {

OperatorBytes block_jacobi_bytes(const FormShape& shape, BlockExchange exchange) {
  const NodeLattice& lattice = shape.lattice;
  const Index vector = exchange == BlockExchange::synchronous ? lattice.size() : 0;
  const Index held =
      Saturated(block_rows_bytes(lattice.size(),
                                 node_brick_count(lattice, default_node_brick(shape.dimension())),
                                 csr_nonzeros(lattice, shape.dirichlet), shape.value_bytes)) +
      Saturated(vector) * shape.value_bytes;
  const OperatorBytes matrix = operator_bytes({"csr"}, shape);
  // Beside the matrix: places of rows.
  const Saturated of_rows = Saturated(lattice.size()) * sizeof(int);
  return {held, std::max<Index>(matrix.peak, of_rows + matrix.held + held)};
}

// The matrix is gone before eigenvalues are looked for.
#define TESSERA_MAKE_BLOCK_JACOBI(T)                                                           \
  template <>                                                                                  \
  std::unique_ptr<BlockJacobi<T, Host>> make_block_jacobi(                                     \
      const BilinearForm& form, const BlockJacobiOptions& options, const IndexTriple& brick) { \
    RowBlocks blocks = make_node_bricks(form.discretization->lattice, brick);                  \
    auto rows = make_block_rows(*make_csr_matrix<T>(form), std::move(blocks));                 \
    return std::make_unique<BlockJacobi<T, Host>>(std::move(rows), options);                   \
  }
TESSERA_MAKE_BLOCK_JACOBI(double)
TESSERA_MAKE_BLOCK_JACOBI(float)
#undef TESSERA_MAKE_BLOCK_JACOBI

}  // namespace tessera
