// This file assembles on the host.
#include "src/studies/update_order/assembled_system.hpp"

#include <utility>

#include "operators/csr/csr.hpp"

namespace tessera {

template <>
AssembledSystem<Host> assemble_in_blocks(const BilinearForm& form, const RowBlocks& blocks) {
  std::unique_ptr<CsrMatrix<double>> matrix = make_csr_matrix<double>(form);
  auto jacobi = std::make_unique<const BlockJacobi<double, Host>>(
      make_block_rows(*matrix, RowBlocks(blocks)), BlockJacobiOptions{});
  return {std::move(matrix), std::move(jacobi)};
}

}  // namespace tessera
