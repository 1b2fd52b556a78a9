// A FieldAtPoints evaluates coefficient or reaction at quadrature points for the GPU.
#pragma once

#include <optional>
#include <vector>

#include "operators/cells/block_scratch.hpp"
#include "operators/cells/fields/device_field.hpp"
#include "operators/cells/fields/device_points.hpp"
#include "operators/cells/fields/device_state.hpp"
#include "operators/form/form_shape.hpp"

namespace tessera {

enum class FormField { coefficient, reaction };

/// Points of which the host evaluates a field at a time, and of which makers of factors hold its
/// values: 128 MiB.
inline constexpr Index kFieldPointsPerChunk = Index{1} << 24;

/// Tensors that are kept of a cell while a field is evaluated: positions in a mapped cell, u where
/// the field depends on it, and as many to work with.
constexpr int field_cell_tensors(int dimension, MeshKind mesh, StateKind state) {
  return 2 * ((mesh == MeshKind::mapped ? dimension : 0) + (state == StateKind::given ? 1 : 0));
}

/// Bytes of these. @param points along an axis, of which there are p + 1 or more
constexpr Index field_cell_bytes(int dimension, int points, MeshKind mesh, StateKind state) {
  return field_cell_tensors(dimension, mesh, state) * power(points, dimension) *
         static_cast<Index>(sizeof(double));
}

/// Evaluates a field at the quadrature points of cells into GPU memory: there, unless it is no
/// DeviceField, or has a value that is not allowed, of which the host tells more. Where it depends
/// on u, it is taken at the form's state.
class FieldAtPoints {
 public:
  /// @param form, points, state outlive this; the state is that of the form
  FieldAtPoints(const BilinearForm& form, FormField what, const DevicePoints& points,
                const DeviceState& state);

  /// Writes the values in cells first .. first + count - 1, [cell][q], q x fastest.
  /// @throws BadFieldValue naming the first cell's point where a value is not allowed; DeviceError
  template <class T>
  void evaluate(Index first, Index count, T* values);

 private:
  template <class T>
  bool evaluate_on_gpu(Index first, Index count, T* values);
  Allowed allowed() const;
  std::vector<double> on_host(Index first, Index count) const;

  const BilinearForm* form_;
  FormField what_;
  PointPlaces points_;
  const double* state_;
  std::optional<DeviceField> field_;
  DeviceArray<Index> forbidden_;
  BlockScratch scratch_;
};

}  // namespace tessera
