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
/// values: 32 MiB.
inline constexpr Index kFieldPointsPerChunk = Index{1} << 22;

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

/// A field that kernels evaluate at the points that they are at.
struct FieldInKernel {
  DeviceFieldView field;  // no terms: they have its values or a constant instead
  Allowed allowed;
  // Becomes the smallest number, cell * points + q, of a value that is not allowed.
  Index* forbidden;
};

/// Values that a kernel writes: doubles, or singles to which it rounds them.
struct RoundedValues {
  double* doubles;
  float* singles;

  explicit RoundedValues(double* values) : doubles(values), singles(nullptr) {}
  explicit RoundedValues(float* values) : doubles(nullptr), singles(values) {}
};

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

  /// What kernels need to evaluate it themselves; nothing where evaluate() asks the host.
  std::optional<FieldInKernel> in_kernel();
  /// At the nodes, where the field depends on u, else null.
  const double* state() const { return state_; }
  /// After kernels that evaluated it in some cells: whether all values were allowed. Where not, the
  /// host rounds to values that are, so that evaluate() has to be called for these cells.
  /// @throws as evaluate()
  bool were_allowed();

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
