// This file applies products of three matrices, one an axis, on the GPU.
#include <algorithm>
#include <limits>
#include <vector>

#include "operators/multigrid/lattice_product.hpp"
#include "operators/multigrid/lattice_product_kernels.cuh"
#include "operators/multigrid/lattice_tiles.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

// Entries of rows [rows][width] that begin `back` columns before their places.
template <class T>
std::vector<T> placed_entries(const AxisMatrix& matrix, const std::vector<int>& places, int width,
                              int back) {
  std::vector<T> entries(static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(width));
  for (Index r = 0; r < matrix.rows; ++r) {
    const Index begin = matrix.first[r] - (places[r] - back);
    for (int k = 0; k < matrix.width; ++k) {
      const double entry = matrix.entries[r * matrix.width + k];
      if (entry != 0.0) entries[r * width + begin + k] = static_cast<T>(entry);
    }
  }
  return entries;
}

}  // namespace

template <class T>
typename LatticeProduct<T>::Axis LatticeProduct<T>::make_axis(const AxisMatrix& matrix,
                                                              const std::vector<int>& places,
                                                              int width, int back) {
  return {matrix.rows, matrix.columns, width, DeviceArray<int>(places),
          DeviceArray<T>(placed_entries<T>(matrix, places, width, back))};
}

template <class T>
LatticeProduct<T>::LatticeProduct(const std::array<AxisMatrix, 3>& axes, LineStore store) {
  constexpr int kAny = std::numeric_limits<int>::max();
  // Of a 2D lattice blocks go along y.
  const bool is_plane = axes[2].rows == 1 && axes[2].columns == 1;
  const AxisMatrix& x = axes[0];
  const AxisMatrix& y = axes[is_plane ? 2 : 1];
  const AxisMatrix& z = axes[is_plane ? 1 : 2];
  const bool reduces = store == LineStore::assign;
  const AxisMatrix columns_of_z = reduces ? transpose(z) : AxisMatrix();
  Places of_x = first_columns(x);
  Places of_y = first_columns(y);
  Places of_z = reduces ? first_columns(columns_of_z) : end_columns(z);
  const Places ends_x = end_columns(x);
  const Places ends_y = end_columns(y);

  lines_ = is_plane ? 1 : kMaxLines;
  int width = std::max(2, of_z.width);
  const auto width_of_plane = [&] { return reduces ? transposed_width(width) : width; };
  while (width <= kMaxWidth && width_of_plane() < std::max(of_x.width, of_y.width)) ++width;
  const Index enough_y = is_plane ? 1 : width_of_plane();
  TileRows tile_x;
  TileRows tile_y;
  if (width <= kMaxWidth && width_of_plane() <= x.columns && enough_y <= y.columns &&
      width <= (reduces ? z.rows : z.columns)) {
    of_x.width = width_of_plane();
    of_y.width = static_cast<int>(enough_y);
    of_z.width = width;
    const int columns = is_plane ? kColumnsX * kColumnsY : kColumnsX;
    tile_x = plan_tile(of_x, ends_x, reduces ? columns / 2 * kLanes : kExpandedColumns * kLanes,
                       reduces ? columns * kLanes : kAny, kLanes);
    tile_y = plan_tile(of_y, ends_y, lines_, reduces ? kColumnsY * lines_ : kAny, lines_);
  }
  const bool is_any = tile_x.rows == 0 || tile_y.rows == 0;
  if (is_any) {
    width = 0;
    of_z = end_columns(z);
    tile_x = plan_tile(of_x, ends_x, kLanes, kAny, kLanes);
    tile_y = tile_of(of_y, ends_y, lines_);
  }
  const auto shared_values = [&] {
    if (is_any) return tile_y.rows * (2 * tile_x.span + of_z.width * tile_x.rows);
    return (reduces ? 2 * tile_y.span + lines_ : 2 * lines_) * tile_x.span;
  };
  // Where rows are very long, fewer of them fit.
  const Index limit = device_attribute(cudaDevAttrMaxSharedMemoryPerBlock);
  const auto shared_bytes = [&] { return shared_values() * static_cast<Index>(sizeof(T)); };
  while (is_any && tile_y.rows > 1 && shared_bytes() > limit) {
    tile_y = tile_of(of_y, ends_y, tile_y.rows / 2);
  }
  shared_bytes_ = static_cast<std::size_t>(shared_bytes());
  kernel_ = choose_kernel<T>(store, width, is_plane ? LatticeLines::one : LatticeLines::several);
  if (shared_bytes() > limit) allow_shared_memory(kernel_, shared_bytes());

  move_into_tiles(x, ends_x, tile_x.rows, of_x);
  move_into_tiles(y, ends_y, tile_y.rows, of_y);
  const bool by_columns = reduces && !is_any;
  const int last_place = static_cast<int>(z.rows) - of_z.width;
  if (by_columns) {
    for (int& place : of_z.of_rows) place = std::min(place, last_place);
  }
  axes_ = {make_axis(x, of_x.of_rows, of_x.width, 0), make_axis(y, of_y.of_rows, of_y.width, 0),
           by_columns ? make_axis(columns_of_z, of_z.of_rows, of_z.width, 0)
                      : make_axis(z, of_z.of_rows, of_z.width, of_z.width)};
  arguments_.tile = {tile_x.rows, tile_y.rows, tile_x.span, tile_y.span};
  arguments_.tiles_x = static_cast<unsigned>(ceil_div(x.rows, tile_x.rows));
  arguments_.tiles_y = static_cast<unsigned>(ceil_div(y.rows, tile_y.rows));
  arguments_.stretch = stretch_of(z.rows, by_columns ? 2 * of_z.width : of_z.width,
                                  static_cast<Index>(arguments_.tiles_x) * arguments_.tiles_y,
                                  resident_blocks(kernel_, kLanes * lines_, shared_bytes_));
  stretches_ = ceil_div(z.rows, arguments_.stretch);
  if (by_columns) {
    planes_ = DeviceArray<int>(rows_of_columns(of_z, static_cast<int>(z.rows), arguments_.stretch));
  }
}

template <class T>
void LatticeProduct<T>::apply(const T* in, T* out) const {
  Arguments args = arguments_;
  for (int d = 0; d < 3; ++d) {
    const Axis& axis = axes_[d];
    args.axes[d] = {axis.rows, axis.columns, axis.width, axis.place.data(), axis.entries.data()};
  }
  args.planes = planes_.data();
  args.in = in;
  args.out = out;
  const Index blocks = static_cast<Index>(args.tiles_x) * args.tiles_y * stretches_;
  launch(kernel_,
         {"transfer between levels", static_cast<unsigned>(blocks),
          dim3(kLanes, static_cast<unsigned>(lines_)), shared_bytes_},
         args);
}

template <class T>
Index LatticeProduct<T>::bytes() const {
  Index bytes = planes_.bytes();
  for (const Axis& axis : axes_) bytes += axis.place.bytes() + axis.entries.bytes();
  return bytes;
}

template class LatticeProduct<double>;
template class LatticeProduct<float>;

}  // namespace tessera
