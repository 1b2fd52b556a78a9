#include "operators/geometry_size.hpp"

#include <algorithm>

#include "mesh/geometric_factors.hpp"
#include "operators/device_factors.hpp"
#include "operators/tensor_any.hpp"

namespace tessera {
namespace {

Index point_count(const OperatorSize& size) {
  return size.mesh.cell_count() * power(size.points, size.mesh.dimension());
}

Index compressed_bytes(const OperatorSize& size) {
  constexpr Index kValuesTogether = 3;
  constexpr Index kExponentBytes = 4;
  const Index entries = factor_entries(size.mesh.dimension());
  const Index at_points = 2 * size.value_bytes * ceil_div(entries, kValuesTogether);
  return at_points * point_count(size) +
         entries * (size.value_bytes + kExponentBytes) * size.mesh.cell_count();
}

Index coefficient_bytes(const OperatorSize& size) {
  return size.coefficient == CoefficientKind::constant ? 0 : size.value_bytes * point_count(size);
}

Index stencil_bytes(const OperatorSize& size) {
  return (power(3, size.mesh.dimension()) + 1) / 2 * size.value_bytes * size.lattice.size();
}

Index position_bytes(const OperatorSize& size) {
  return size.mesh.dimension() * size.lattice.size() * static_cast<Index>(sizeof(double));
}

Index device_scratch_bytes(const OperatorSize& size) {
  return block_scratch_bytes(
      tensor_any_block_bytes(size.mesh.dimension(), size.points, size.value_bytes));
}

}  // namespace

Index stored_factor_bytes(const OperatorSize& size) {
  return geometric_factor_bytes(size.factors, size.mesh.dimension(), size.mesh.cell_count(),
                                size.points, size.value_bytes);
}

Index geometry_bytes(const OperatorSize& size) {
  switch (size.geometry) {
    case GeometryForm::stored:
      break;
    case GeometryForm::compressed:
      return compressed_bytes(size);
    case GeometryForm::on_the_fly:
      return coefficient_bytes(size);
    case GeometryForm::stencil:
      return stencil_bytes(size);
  }
  return stored_factor_bytes(size);
}

Index geometry_peak_bytes(const OperatorSize& size) {
  const Index held = geometry_bytes(size);
  return size.geometry == GeometryForm::stencil ? held + stored_factor_bytes(size) : held;
}

Index device_stored_factor_bytes(const OperatorSize& size) {
  return device_scratch_bytes(size) + device_factor_bytes(size.factors, size.mesh.dimension(),
                                                          size.mesh.cell_count(), size.points,
                                                          size.value_bytes);
}

Index device_stored_factor_peak_bytes(const OperatorSize& size) {
  return device_scratch_bytes(size) +
         device_factor_peak_bytes(size.factors, size.mesh.dimension(), size.mesh.cell_count(),
                                  size.points, size.lattice.size(), size.value_bytes);
}

Index device_geometry_bytes(const OperatorSize& size) {
  switch (size.geometry) {
    case GeometryForm::stored:
      break;
    case GeometryForm::compressed:
      return device_scratch_bytes(size) + compressed_bytes(size);
    case GeometryForm::on_the_fly:
      return device_scratch_bytes(size) + position_bytes(size) + coefficient_bytes(size);
    case GeometryForm::stencil:
      return stencil_bytes(size);
  }
  return device_stored_factor_bytes(size);
}

// What making the factors takes beyond them, making another form of them takes as well; the
// stencil is made from the kernel with stored factors.
Index device_geometry_peak_bytes(const OperatorSize& size) {
  const Index held = device_geometry_bytes(size);
  const Index stored_peak = device_stored_factor_peak_bytes(size);
  if (size.geometry == GeometryForm::stored) return stored_peak;
  const Index stored = device_stored_factor_bytes(size);
  return size.geometry == GeometryForm::stencil ? std::max(stored_peak, stored + held)
                                                : held + stored_peak - stored;
}

}  // namespace tessera
