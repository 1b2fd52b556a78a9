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

// Cells whose factors are made at a time: some planes, or some rows of a plane.
struct Slab {
  int rows;
  int planes;
};

Slab slab_of(const CellGrid& grid, Index cells) {
  const Index plane = static_cast<Index>(grid.cells[0]) * grid.cells[1];
  if (cells < plane) {
    return {static_cast<int>(std::clamp<Index>(cells / grid.cells[0], 1, grid.cells[1])), 1};
  }
  return {grid.cells[1], static_cast<int>(std::clamp<Index>(cells / plane, 1, grid.cells[2]))};
}

}  // namespace

template <class T>
void add_general_diagonal(const BilinearForm& form, const CellGrid& grid,
                          const TensorAnySize<T>& any_size, const std::vector<CellRange>& colors,
                          T* d) {
  const int points = form.discretization->basis.point_count();
  const Index stride = device_factor_stride(FactorKind::general, grid.dimension, points, sizeof(T));
  const Index cell_bytes = stride * static_cast<Index>(sizeof(T));
  const Slab slab = slab_of(grid, kDiagonalChunkBytes / cell_bytes);
  const Index slab_cells = static_cast<Index>(grid.cells[0]) * slab.rows * slab.planes;
  DeviceArray<T> factors(stride * slab_cells);
  DeviceArray<T> reaction;
  if (reaction_kind(form.reaction) != ReactionKind::none) {
    reaction = DeviceArray<T>(power(points, grid.dimension) * slab_cells);
  }
  DeviceFactorMaker<T> maker(form);
  for (int z = 0; z < grid.cells[2]; z += slab.planes) {
    const int z_end = std::min(z + slab.planes, grid.cells[2]);
    for (int y = 0; y < grid.cells[1]; y += slab.rows) {
      const int y_end = std::min(y + slab.rows, grid.cells[1]);
      const Index first = cell_number(grid, {0, y, z});
      maker.make(first, static_cast<Index>(z_end - z) * (y_end - y) * grid.cells[0], factors.data(),
                 reaction.data());
      for (const CellRange& color : colors) {
        const CellRange range = clipped(clipped(color, 2, z, z_end), 1, y, y_end);
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
