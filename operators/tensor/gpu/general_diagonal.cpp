// This file adds the diagonals of cells whose factors are not stored.
#include "operators/tensor/gpu/general_diagonal.hpp"

#include <algorithm>

#include "solvers/memory/cuda_check.hpp"

namespace tessera {
namespace {

// Those cells of a range that lie in the slab.
CellRange clipped(CellRange range, const CellRange& slab) {
  for (int d = 0; d < 3; ++d) {
    const auto steps_to = [&](int to) {
      const int distance = std::max(to - range.first[d], 0);
      return std::min((distance + range.step - 1) / range.step, range.count[d]);
    };
    const int skipped = steps_to(slab.first[d]);
    const int last = steps_to(slab.first[d] + slab.count[d]);
    range.first[d] += skipped * range.step;
    range.count[d] = last - skipped;
  }
  return range;
}

}  // namespace

template <class T>
void add_general_diagonal(const BilinearForm& form, const CellGrid& grid,
                          const TensorAnySize<T>& any_size, const std::vector<CellRange>& colors,
                          T* d) {
  const int points = form.discretization->basis.point_count();
  const Index stride = device_factor_stride(FactorKind::general, grid.dimension, points, sizeof(T));
  const CellRange largest = largest_slab(
      grid, factor_chunk_cells(grid.dimension, points, sizeof(T), kDiagonalChunkBytes));
  DeviceArray<T> factors(stride * largest.size());
  DeviceArray<T> reaction;
  if (reaction_kind(form.reaction) != ReactionKind::none) {
    reaction = DeviceArray<T>(power(points, grid.dimension) * largest.size());
  }
  DeviceFactorMaker<T> maker(form);
  for_each_slab(grid, largest, [&](const CellRange& slab) {
    const Index first = cell_number(grid, slab.first);
    maker.make(first, slab.size(), factors.data(), reaction.data());
    for (const CellRange& color : colors) {
      const CellRange range = clipped(color, slab);
      if (range.size() == 0) continue;
      any_size.add_diagonal(
          grid, range, {FactorKind::general, factors.data(), stride, first, {}, reaction.data()},
          d);
    }
  });
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
