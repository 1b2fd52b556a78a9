// A CellTransfer prolongates and restricts on the GPU where all cells are alike.
#pragma once

#include <functional>

#include "operators/multigrid/repeated_cells.hpp"

namespace tessera {

/// What kernels for degree p of the coarser space are given.
template <class T, int p>
struct CellTransferArguments {
  T entries[2 * p][p + 1];
  int cells[3];     // of the coarser lattice
  unsigned masked;  // FaceSet
  int width;        // cells along x of a block that restricts
  int stretch;      // cells along z of a block
  unsigned blocks_x;
  unsigned blocks_y;
};

/// fine += P coarse and coarse = P^T fine in three dimensions, each in one kernel, whose sums have
/// the entries of one cell as constants. Every vector is read or written once but for the margins
/// of blocks, which mostly come from the caches. Deterministic; fine has the bits that a
/// LatticeProduct gives.
template <class T>
class CellTransfer {
 public:
  /// @throws DeviceError
  explicit CellTransfer(const RepeatedCells& cells);

  /// @param coarse [z][y][x], x fastest, as is fine. @throws DeviceError
  void add_prolonged(const T* coarse, T* fine) const { prolong_(coarse, fine); }
  void restrict_to_coarse(const T* fine, T* coarse) const { restrict_(fine, coarse); }

 private:
  template <int p>
  void make(const RepeatedCells& cells);

  std::function<void(const T* in, T* out)> prolong_;
  std::function<void(const T* in, T* out)> restrict_;
};

}  // namespace tessera
