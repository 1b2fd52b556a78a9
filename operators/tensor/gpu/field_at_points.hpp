// A FieldAtPoints evaluates coefficient or reaction at quadrature points for the GPU.
#pragma once

#include <optional>
#include <vector>

#include "operators/cells/block_scratch.hpp"
#include "operators/cells/fields/device_points.hpp"
#include "operators/cells/fields/device_program.hpp"
#include "operators/form/bilinear_form.hpp"

namespace tessera {

enum class FormField { coefficient, reaction };

/// Points of which the host evaluates a field at a time, and of which makers of factors hold its
/// values: 128 MiB.
inline constexpr Index kFieldPointsPerChunk = Index{1} << 24;

/// Bytes that a block evaluating a field in a mapped cell keeps: positions and two tensors.
constexpr Index field_block_bytes(int dimension, int longest) {
  return (dimension + 2) * power(longest, dimension) * static_cast<Index>(sizeof(double));
}

/// Evaluates a field at the quadrature points of cells into GPU memory: there, unless it has no
/// program that a thread has room for, or a value that is not allowed, of which the host tells
/// more.
class FieldAtPoints {
 public:
  /// @param form, points outlive this
  FieldAtPoints(const BilinearForm& form, FormField what, const DevicePoints& points);

  /// Writes the values in cells first .. first + count - 1, [cell][q], q x fastest.
  /// @throws BadFieldValue naming the first cell's point where a value is not allowed; DeviceError
  template <class T>
  void evaluate(Index first, Index count, T* values);

 private:
  template <class T>
  bool evaluate_on_gpu(Index first, Index count, T* values);
  std::vector<double> on_host(Index first, Index count) const;

  const BilinearForm* form_;
  FormField what_;
  PointPlaces points_;
  std::optional<DeviceProgram> program_;
  DeviceArray<Index> forbidden_;
  BlockScratch scratch_;
};

}  // namespace tessera
