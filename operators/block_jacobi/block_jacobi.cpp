// This file makes block Jacobi on the host, and knows its memory.
#include "operators/block_jacobi/block_jacobi.hpp"

#include <algorithm>

#include "operators/csr/csr.hpp"

namespace tessera {

template <class T>
std::unique_ptr<BlockJacobi<T, Host>> make_block_jacobi(const BilinearForm& form,
                                                        const BlockJacobiOptions& options,
                                                        const IndexTriple& brick) {
  RowBlocks blocks = make_node_bricks(form.discretization->lattice, brick);
  // The matrix is gone before eigenvalues are looked for.
  auto rows = make_block_rows(*make_csr_matrix<T>(form), std::move(blocks));
  return std::make_unique<BlockJacobi<T, Host>>(std::move(rows), options);
}

Index block_jacobi_bytes(const OperatorSize& size, BlockExchange exchange) {
  const NodeLattice& lattice = size.lattice;
  const Index vector = exchange == BlockExchange::synchronous ? lattice.size() : 0;
  return block_rows_bytes(lattice.size(),
                          node_brick_count(lattice, default_node_brick(lattice.dimension())),
                          csr_nonzeros(lattice, size.dirichlet), size.value_bytes) +
         vector * size.value_bytes;
}

Index block_jacobi_peak_bytes(const OperatorSize& size, BlockExchange exchange) {
  const StrategyName csr{"csr", "none"};
  OperatorSize matrix = size;
  matrix.geometry = GeometryForm::stored;
  // Beside the matrix: 64-bit row starts on the GPU, places of rows.
  const Index of_rows = size.lattice.size() * static_cast<Index>(sizeof(Index) + sizeof(int));
  return std::max(operator_peak_bytes(csr, matrix),
                  operator_bytes(csr, matrix) + of_rows + block_jacobi_bytes(size, exchange));
}

template std::unique_ptr<BlockJacobi<double, Host>> make_block_jacobi(const BilinearForm&,
                                                                      const BlockJacobiOptions&,
                                                                      const IndexTriple&);
template std::unique_ptr<BlockJacobi<float, Host>> make_block_jacobi(const BilinearForm&,
                                                                     const BlockJacobiOptions&,
                                                                     const IndexTriple&);

}  // namespace tessera
