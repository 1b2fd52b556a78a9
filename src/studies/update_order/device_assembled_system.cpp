// This file assembles in GPU memory.
#include "operators/cells/element_kernel.hpp"
#include "operators/csr/device_csr.hpp"
#include "src/studies/update_order/assembled_system.hpp"

namespace tessera {

template <>
AssembledSystem<Device> assemble_in_blocks(const BilinearForm& form, const RowBlocks& blocks) {
  const auto kernel = make_device_element_kernel<double>(form);
  auto jacobi = std::make_unique<const BlockJacobi<double, Device>>(
      make_block_rows(assemble_on_device<double>(form, *kernel), blocks), BlockJacobiOptions{});
  return {make_device_csr_operator<double>(form, *kernel), std::move(jacobi)};
}

}  // namespace tessera
