// A LatticeProduct applies a product of three matrices, one an axis, on the GPU.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "mesh/element/axis_matrix.hpp"
#include "mesh/index_box.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// out = (or +=) (A_z x A_y x A_x) in, from one lattice to another, x fastest, in one kernel: both
/// are read or written once but for the margins of tiles, which mostly come from the caches. A
/// thread block has a tile of the output's columns along z and goes along them. Deterministic.
///
/// Where out is added to, it is taken to be the larger lattice: of each plane of the input, what
/// the tile depends on is multiplied by A_y and A_x, and each thread keeps as many planes of that
/// as a row of A_z has entries. Where out is replaced, the input is taken to be the larger lattice:
/// each thread takes columns of it along z, of which it keeps as many sums as a column of A_z has
/// entries, and a plane whose sums are complete is multiplied by A_y and A_x. The order of the sums
/// of out += does not depend on the lattice, so that all ranks that have a value have its bits.
template <class T>
class LatticeProduct {
 public:
  /// @param axes x first, [rows][columns] values of out and in along each axis
  /// @param store of all calls
  /// @throws DeviceError
  LatticeProduct(const std::array<AxisMatrix, 3>& axes, LineStore store);

  /// @param in [z][y][x], x fastest, as is out. @throws DeviceError
  void apply(const T* in, T* out) const;
  /// Of the tables.
  Index bytes() const;

  /// A matrix as the kernel sees it: row r has entries in columns [place[r], place[r] + width), or,
  /// of A_z in kernels that go along rows of out, in [place[r] - width, place[r]). Places do not
  /// decrease.
  struct Rows {
    Index rows;
    Index columns;
    int width;
    const int* place;  // [rows]
    const T* entries;  // [rows][width]
  };
  /// Output columns along z of a block, and what they depend on along x and y.
  struct Tile {
    int x;
    int y;
    int span_x;
    int span_y;
  };
  struct Arguments {
    Rows axes[3];  // of an input that is reduced with the transpose of A_z
    Tile tile;
    int stretch;  // rows along z that a block goes along
    unsigned tiles_x;
    unsigned tiles_y;
    const int* planes;  // [stretches][begin, end]: planes of an input that is reduced
    const T* in;
    T* out;
  };

 private:
  struct Axis {
    Index rows = 0;
    Index columns = 0;
    int width = 1;
    DeviceArray<int> place;
    DeviceArray<T> entries;
  };
  // Entries begin `back` columns before the places.
  static Axis make_axis(const AxisMatrix& matrix, const std::vector<int>& places, int width,
                        int back);

  std::array<Axis, 3> axes_;
  DeviceArray<int> planes_;
  Index stretches_ = 0;
  int lines_ = 1;
  Arguments arguments_{};
  void (*kernel_)(Arguments) = nullptr;
  std::size_t shared_bytes_ = 0;
};

}  // namespace tessera
