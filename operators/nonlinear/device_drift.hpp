// A DeviceDrift is a Drift on the GPU.
#pragma once

#include <optional>

#include "mesh/saturated.hpp"
#include "operators/cells/fields/cell_integrator.hpp"
#include "operators/form/kernel_info.hpp"
#include "operators/tensor/gpu/field_at_points.hpp"
#include "solvers/check.hpp"
#include "solvers/memory/vector.hpp"
#include "solvers/ranks/plane_exchange.hpp"

namespace tessera {

struct DriftArguments;

/// As Drift, in GPU memory: g_q is [cell][axis][q], and cells add color after color, the same bits
/// in every run. dk/du is evaluated by the kernel that makes g, or asked of a FieldAtPoints.
class DeviceDrift {
 public:
  /// @throws as Drift(), DeviceError
  explicit DeviceDrift(const BilinearForm& form);

  /// Takes it at another state of the same form. @throws BadFieldValue, DeviceError
  void update(const BilinearForm& form);

  /// As Drift::add(). The launches can be captured, those of ranks where messages can be.
  /// @throws DeviceError
  void add(const DeviceVector<double>& v, DeviceVector<double>& y) const;

  /// Of add().
  double flops() const { return flops_; }
  Index bytes() const {
    return g_.bytes() + scratch_.global_bytes() + own_.size() * static_cast<Index>(sizeof(double)) +
           (exchange_ ? exchange_->bytes() : 0);
  }

 private:
  void make_g(const DriftArguments& arguments, Index cells);
  void add_own(const DeviceVector<double>& v, DeviceVector<double>& y) const;

  CellGrid grid_;
  Basis1D basis_;
  CellIntegrator integrator_;
  BlockScratch scratch_;  // of add()
  DeviceArray<double> g_;
  double flops_;
  // Of a rank's part: what it adds, and how ranks sum it up.
  mutable DeviceVector<double> own_;
  std::optional<PlaneExchange<double, Device>> exchange_;
  mutable OneUseAtATime guard_;
};

/// Bytes held by a DeviceDrift, and the most while it is made or updated at a state in GPU memory;
/// without what ranks exchange.
inline OperatorBytes device_drift_bytes(const FormShape& shape) {
  const int dimension = shape.dimension();
  const Index points = Saturated(shape.mesh.cell_count()) * power(shape.points, dimension);
  const bool is_mapped = shape.mesh_kind == MeshKind::mapped;
  const Index held =
      Saturated(points) * dimension * sizeof(double) +
      block_scratch_bytes(integral_cell_bytes(dimension, shape.points, is_mapped)) +
      block_scratch_bytes(integral_cell_bytes(dimension, shape.points, /*is_mapped=*/false));
  const Index fields =
      Saturated(points < kFieldPointsPerChunk ? points : kFieldPointsPerChunk) * sizeof(double) +
      block_scratch_bytes(
          field_cell_bytes(dimension, shape.points, shape.mesh_kind, StateKind::given));
  return {held, Saturated(held) + fields};
}

}  // namespace tessera
