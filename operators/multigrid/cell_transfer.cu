// This file launches prolongations and restrictions of lattices whose cells are all alike.
#include <type_traits>

#include "operators/multigrid/cell_transfer.hpp"
#include "operators/multigrid/cell_transfer_kernels.cuh"
#include "operators/multigrid/lattice_tiles.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {

template <class T>
template <int p>
void CellTransfer<T>::make(const RepeatedCells& cells) {
  CellTransferArguments<T, p> all{};
  for (int r = 0; r < 2 * p; ++r) {
    for (int k = 0; k <= p; ++k) {
      all.entries[r][k] = static_cast<T>(cells.entries[r * (p + 1) + k]);
    }
  }
  for (int d = 0; d < 3; ++d) all.cells[d] = static_cast<int>(cells.cells[d]);
  all.masked = static_cast<unsigned>(cells.masked.to_ulong());
  const auto kernel_for = [&](auto kernel, std::size_t shared_bytes,
                              CellTransferArguments<T, p> args, Index blocks_x, Index blocks_y) {
    if (shared_bytes > 0) allow_shared_memory(kernel, static_cast<Index>(shared_bytes));
    args.blocks_x = static_cast<unsigned>(blocks_x);
    args.blocks_y = static_cast<unsigned>(blocks_y);
    args.stretch = stretch_of(cells.cells[2], 1, blocks_x * blocks_y,
                              resident_blocks(kernel, kTransferThreads, shared_bytes));
    const Index blocks = blocks_x * blocks_y * ceil_div(cells.cells[2], args.stretch);
    return [=](const T* in, T* out) {
      launch(kernel,
             {"transfer between levels", static_cast<unsigned>(blocks), kTransferThreads,
              shared_bytes},
             args, in, out);
    };
  };
  const auto [cells_x, cells_y, cells_z] = cells.cells;
  prolong_ = kernel_for(
      prolong_cells_kernel<T, p>, kTransferThreads / kLanes * sizeof(ProlongationRoom<T, p>), all,
      ceil_div(2 * p * cells_x + 1, kTransferThreads), ceil_div(cells_y + 1, prolonged_cells(p)));
  const Index blocks_x = ceil_div(cells_x, restricted_cells_x(p));
  all.width = static_cast<int>(ceil_div(cells_x, blocks_x));
  restrict_ = kernel_for(restrict_cells_kernel<T, p>, 0, all, ceil_div(cells_x, all.width),
                         ceil_div(cells_y + 1, restricted_cells(p)));
}

template <class T>
CellTransfer<T>::CellTransfer(const RepeatedCells& cells) {
  switch (cells.p) {
    case 1:
      make<1>(cells);
      break;
    case 2:
      make<2>(cells);
      break;
    case 3:
      make<3>(cells);
      break;
    default:
      make<4>(cells);
  }
}

template class CellTransfer<double>;
template class CellTransfer<float>;

}  // namespace tessera
