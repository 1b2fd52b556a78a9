// An AssembledSystem is a form's matrix, whole and in blocks.
#pragma once

#include <memory>

#include "operators/form/bilinear_form.hpp"
#include "solvers/linear_operator.hpp"
#include "solvers/preconditioners/block_jacobi.hpp"

namespace tessera {

/// A form's matrix for residuals, and block Jacobi with four local sweeps, which has the matrix in
/// blocks, and damping and relaxation that suit it.
template <class Space>
struct AssembledSystem {
  std::unique_ptr<const LinearOperator<double, Space>> matrix;
  std::unique_ptr<const BlockJacobi<double, Space>> jacobi;
};

/// @throws std::bad_alloc, DeviceOutOfMemory, DeviceError
template <class Space>
[[nodiscard]] AssembledSystem<Space> assemble_in_blocks(const BilinearForm& form,
                                                        const RowBlocks& blocks);

}  // namespace tessera
