// This file adds the diagonals of cells whose factors are not stored.
#include <algorithm>

#include "operators/tensor/gpu/general_diagonal.hpp"
#include "solvers/memory/cuda_check.hpp"

namespace tessera {
namespace {

// Those cells of a range that lie in begin .. end - 1 along axis d.
CellRange clipped(CellRange range, int d, int begin, int end) {
  const auto steps_to = [&](int to) {
    const int distance = std::max(to - range.first[d], 0);
    return std::min((distance + range.step - 1) / range.step, range.count[d]);
  };
  const int skipped = steps_to(begin);
  const int last = steps_to(end);
  range.first[d] += skipped * range.step;
  range.count[d] = last - skipped;
  return range;
}

}  // namespace

template <class T>
void add_general_diagonal(const BilinearForm& form, const CellGrid& grid,
                          const TensorAnySize<T>& any_size, const std::vector<CellRange>& colors,
                          T* d) {
  const int points = form.discretization->basis.point_count();
  const Index stride = device_factor_stride(FactorKind::general, grid.dimension, points, sizeof(T));
  const Index room = factor_chunk_cells(grid.dimension, points, sizeof(T)) / grid.cells[0];
  const int rows = static_cast<int>(std::clamp<Index>(room, 1, grid.cells[1]));
  DeviceArray<T> factors(stride * grid.cells[0] * rows);
  DeviceArray<T> reaction;
  if (reaction_kind(form.reaction) != ReactionKind::none) {
    reaction = DeviceArray<T>(power(points, grid.dimension) * grid.cells[0] * rows);
  }
  DeviceFactorMaker<T> maker(form);
  for (int z = 0; z < grid.cells[2]; ++z) {
    for (int y = 0; y < grid.cells[1]; y += rows) {
      const int end = std::min(y + rows, grid.cells[1]);
      const Index first = cell_number(grid, {0, y, z});
      maker.make(first, static_cast<Index>(end - y) * grid.cells[0], factors.data(),
                 reaction.data());
      for (const CellRange& color : colors) {
        const CellRange range = clipped(clipped(color, 2, z, z + 1), 1, y, end);
        if (range.size() == 0) continue;
        any_size.add_diagonal(
            grid, range, {FactorKind::general, factors.data(), stride, first, {}, reaction.data()},
            d);
      }
    }
  }
  // Before the factors go.
  synchronize_device();
}

template void add_general_diagonal(const BilinearForm&, const CellGrid&,
                                   const TensorAnySize<double>&, const std::vector<CellRange>&,
                                   double*);
template void add_general_diagonal(const BilinearForm&, const CellGrid&,
                                   const TensorAnySize<float>&, const std::vector<CellRange>&,
                                   float*);

}  // namespace tessera
