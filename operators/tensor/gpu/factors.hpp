// DeviceFactors are geometric factors stored in GPU memory.
#pragma once

#include <array>
#include <optional>

#include "mesh/geometry/factor_kind.hpp"
#include "mesh/saturated.hpp"
#include "operators/cells/block_scratch.hpp"
#include "operators/cells/device_cells.hpp"
#include "operators/form/updatable.hpp"
#include "operators/tensor/gpu/field_at_points.hpp"
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
/// kept. @param most that they take
constexpr Index factor_chunk_cells(int dimension, int points, Index value_bytes,
                                   Index most = kFactorChunkBytes) {
  const Index bytes =
      device_factor_stride(FactorKind::general, dimension, points, value_bytes) * value_bytes;
  return bytes < most ? most / bytes : 1;
}

/// Factors of cells in GPU memory as other kernels read them: those of cell c at data +
/// (c - first_cell) stride.
template <class T>
struct FactorView {
  FactorKind kind;
  const T* data;
  Index stride;
  Index first_cell;
  std::array<double, 3> axis_scale;
  /// r_q [cell - first_cell][q] where there is a reaction; of `constant` reaction_scale instead.
  const T* reaction = nullptr;
  double reaction_scale = 0.0;
};

struct GeometryArguments;

/// Makes `scaled` and `general` factors of ranges of cells on the GPU, in the layout of
/// DeviceFactors.
template <class T>
class DeviceFactorMaker {
 public:
  explicit DeviceFactorMaker(const BilinearForm& form);

  /// Writes those of cells first .. first + count - 1 and their r_q, [cell][q], each unless null;
  /// coefficient and reaction are those of FieldAtPoints. @throws BadFieldValue, DeviceError
  void make(Index first, Index count, T* factors, T* reaction);
  /// @throws InvertedCell where a Jacobian of the cells made so far is not positive
  void check() const;

 private:
  // A field of the form, of which kernels ask for values, or which they evaluate.
  struct Field {
    std::optional<FieldAtPoints> at_points;  // where it varies
    double constant = 0.0;
    DeviceArray<double> values;  // of a chunk of cells, once they were needed
  };

  void launch_kernels(const GeometryArguments& arguments, T* factors, T* reaction);
  bool make_with_fields(GeometryArguments arguments, T* factors, T* reaction);
  void make_with_values(GeometryArguments arguments, T* factors, T* reaction);

  const BilinearForm* form_;
  FactorKind kind_;
  Index cell_stride_;
  DevicePoints points_;
  DeviceState state_;
  DeviceArray<double> D_;
  std::array<Field, 2> fields_;  // k, c
  DeviceArray<Index> inverted_;
  BlockScratch scratch_;
};

/// The middle factor D_q = w_q |J| k J^-1 J^-T of A = sum_c P B^T D B P^T, and r_q = w_q |J| c
/// where there is a reaction, in GPU memory, made there from the positions of the nodes or the
/// widths of graded cells; cell after cell, device_factor_stride() values each.
///
/// `constant` stores nothing. `scaled` 2D [cell][q_x][q_y], 3D [cell][q_z][q_y][q_x]: w |J| k,
/// times axis_scale for D. `general` 2D [cell][q_x][entry][q_y], entries xx xy yy;
/// 3D [cell][q_z][pair][q_y][q_x][2], pairs (xx, xy) (xz, yy) (yz, zz).
template <class T>
class DeviceFactors {
 public:
  /// @throws InvertedCell, BadFieldValue as mesh/geometry/geometric_factors.hpp; DeviceOutOfMemory
  explicit DeviceFactors(const BilinearForm& form);

  /// As Updatable. What makes factors takes memory for the while.
  Updated update(const BilinearForm& form);

  FactorKind kind() const { return kind_; }
  /// 1 / h_d^2, 0 for `general`; `constant`: times |J| k, so that K_c = sum_d axis_scale[d] K (x) M
  /// (x) M.
  const std::array<double, 3>& axis_scale() const { return axis_scale_; }
  const T* data() const { return values_.data(); }
  Index cell_stride() const { return cell_stride_; }
  /// [cell][q_z][q_y][q_x], null where there is none or the factors are `constant`.
  const T* reaction() const { return reaction_.data(); }
  /// |J| c for `constant`, else 0.
  double reaction_scale() const { return reaction_scale_; }
  FactorView<T> view() const {
    return {kind_, values_.data(), cell_stride_, 0, axis_scale_, reaction_.data(), reaction_scale_};
  }
  Index bytes() const { return values_.bytes() + reaction_.bytes(); }

 private:
  void set_scales(const BilinearForm& form);
  void make(const BilinearForm& form);

  FactorKind kind_;
  std::array<double, 3> axis_scale_{};
  double reaction_scale_ = 0.0;
  Index cell_stride_ = 0;
  DeviceArray<T> values_;
  DeviceArray<T> reaction_;
};

/// Bytes that are kept of a mapped cell while its factors are made: those of a field.
constexpr Index factor_cell_bytes(int dimension, int points, StateKind state) {
  return field_cell_bytes(dimension, points, MeshKind::mapped, state);
}

/// Bytes held, and the most while they are made, beside the positions of a mapped mesh's nodes and
/// the form's state.
constexpr Index device_factor_bytes(FactorKind kind, ReactionKind reaction, int dimension,
                                    Index cells, int points, Index value_bytes) {
  const bool has_values = kind != FactorKind::constant && reaction != ReactionKind::none;
  const Index reactions = has_values ? power(points, dimension) : 0;
  return Saturated(cells) *
         (device_factor_stride(kind, dimension, points, value_bytes) + reactions) * value_bytes;
}
constexpr Index device_factor_peak_bytes(FactorKind kind, ReactionKind reaction, StateKind state,
                                         int dimension, Index cells, int points,
                                         Index value_bytes) {
  if (kind == FactorKind::constant) return 0;
  const bool is_general = kind == FactorKind::general;
  // A field of a form has a scratch of its own.
  const Index of_fields =
      2 * block_scratch_bytes(field_cell_bytes(
              dimension, points, is_general ? MeshKind::mapped : MeshKind::uniform, state));
  const Index scratch =
      of_fields +
      (is_general ? block_scratch_bytes(factor_cell_bytes(dimension, points, state)) : Index{0});
  const Index all_points = Saturated(cells) * power(points, dimension);
  const Index of_field = all_points < kFieldPointsPerChunk ? all_points : kFieldPointsPerChunk;
  const Index fields = of_field * (reaction == ReactionKind::varying ? 2 : 1);
  return Saturated(fields) * sizeof(double) +
         device_factor_bytes(kind, reaction, dimension, cells, points, value_bytes) + scratch;
}

}  // namespace tessera
