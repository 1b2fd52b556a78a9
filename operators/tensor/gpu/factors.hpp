// DeviceFactors are geometric factors stored in GPU memory.
#pragma once

#include <array>

#include "mesh/geometry/factor_kind.hpp"
#include "mesh/saturated.hpp"
#include "operators/cells/block_scratch.hpp"
#include "operators/cells/device_cells.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// Values of one cell's factors with padding: 0 for `constant`. Cells begin on 16 bytes.
constexpr Index device_factor_stride(FactorKind kind, int dimension, int points,
                                     Index value_bytes) {
  if (kind == FactorKind::constant) return 0;
  const Index values =
      power(points, dimension) * (kind == FactorKind::general ? factor_entries(dimension) : 1);
  const Index unit = 16 / value_bytes;
  return ceil_div(values, unit) * unit;
}

/// The most that `general` factors take that are there only for a while, unless one cell's take
/// more.
inline constexpr Index kFactorChunkBytes = Index{256} << 20;

/// The number of cells, at least one, whose `general` factors are made at a time if factors are not
/// kept.
constexpr Index factor_chunk_cells(int dimension, int points, Index value_bytes) {
  const Index bytes =
      device_factor_stride(FactorKind::general, dimension, points, value_bytes) * value_bytes;
  return bytes < kFactorChunkBytes ? kFactorChunkBytes / bytes : 1;
}

/// Factors of cells in GPU memory as kernels of run-time size read them: those of cell c at data +
/// (c - first_cell) stride.
template <class T>
struct FactorView {
  FactorKind kind;
  const T* data;
  Index stride;
  Index first_cell;
  std::array<double, 3> axis_scale;
};

/// Makes `scaled` and `general` factors of ranges of cells on the GPU, in the layout of
/// DeviceFactors. Meanwhile it holds the positions of the nodes of a mapped mesh.
template <class T>
class DeviceFactorMaker {
 public:
  explicit DeviceFactorMaker(const BilinearForm& form);

  /// Writes those of cells first .. first + count - 1; the coefficient comes from the host.
  /// @throws BadFieldValue, DeviceError
  void make(Index first, Index count, T* factors);
  /// @throws InvertedCell where a Jacobian of the cells made so far is not positive
  void check() const;

 private:
  const BilinearForm* form_;
  FactorKind kind_;
  Index cell_stride_;
  DeviceArray<double> B_, D_, weights_, k_;
  std::array<DeviceArray<double>, 3> positions_;
  std::array<DeviceArray<double>, 3> widths_;
  DeviceArray<Index> inverted_;
  BlockScratch scratch_;
};

/// The middle factor D_q = w_q |J| k J^-1 J^-T of A = sum_c P B^T D B P^T in GPU memory, made there
/// from the positions of the nodes or the widths of graded cells; cell after cell,
/// device_factor_stride() values each.
///
/// `constant` stores nothing. `scaled` [cell][q_z][q_y][q_x]: w |J| k, times axis_scale for D.
/// `general` 2D [cell][q_y][entry][q_x], entries xx xy yy;
/// 3D [cell][q_z][pair][q_y][q_x][2], pairs (xx, xy) (xz, yy) (yz, zz).
template <class T>
class DeviceFactors {
 public:
  /// The form's coefficient is evaluated on the host, all else on the GPU.
  /// @throws InvertedCell, BadFieldValue as mesh/geometry/geometric_factors.hpp; DeviceOutOfMemory
  explicit DeviceFactors(const BilinearForm& form);

  FactorKind kind() const { return kind_; }
  /// 1 / h_d^2, 0 for `general`; `constant`: times |J| k, so that K_c = sum_d axis_scale[d] K (x) M
  /// (x) M.
  const std::array<double, 3>& axis_scale() const { return axis_scale_; }
  const T* data() const { return values_.data(); }
  Index cell_stride() const { return cell_stride_; }
  FactorView<T> view() const { return {kind_, values_.data(), cell_stride_, 0, axis_scale_}; }
  Index bytes() const { return values_.bytes(); }

 private:
  FactorKind kind_;
  std::array<double, 3> axis_scale_{};
  Index cell_stride_ = 0;
  DeviceArray<T> values_;
};

/// Points of which the coefficient is on its way from the host at a time: 128 MiB.
inline constexpr Index kCoefficientPointsPerChunk = Index{1} << 24;

/// Bytes that a block making mapped factors keeps: Jacobians and two tensors in double precision.
constexpr Index factor_block_bytes(int dimension, int points) {
  return (dimension * dimension + 2) * power(points, dimension) *
         static_cast<Index>(sizeof(double));
}

/// Bytes held, and the most while they are made: for `general` that of a mapped mesh, which copies
/// node positions; a graded one takes less.
constexpr Index device_factor_bytes(FactorKind kind, int dimension, Index cells, int points,
                                    Index value_bytes) {
  return Saturated(cells) * device_factor_stride(kind, dimension, points, value_bytes) *
         value_bytes;
}
constexpr Index device_factor_peak_bytes(FactorKind kind, int dimension, Index cells, int points,
                                         Index nodes, Index value_bytes) {
  if (kind == FactorKind::constant) return 0;
  const bool is_general = kind == FactorKind::general;
  const Saturated positions = is_general ? Saturated(nodes) * dimension : Saturated(0);
  const Index scratch = is_general ? block_scratch_bytes(factor_block_bytes(dimension, points)) : 0;
  const Index all_points = Saturated(cells) * power(points, dimension);
  const Index coefficients =
      all_points < kCoefficientPointsPerChunk ? all_points : kCoefficientPointsPerChunk;
  return (positions + coefficients) * sizeof(double) +
         device_factor_bytes(kind, dimension, cells, points, value_bytes) + scratch;
}

}  // namespace tessera
