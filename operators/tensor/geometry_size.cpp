// This file counts the bytes of geometric factors.
#include "operators/tensor/geometry_size.hpp"

#include <omp.h>

#include <algorithm>
#include <stdexcept>

#include "mesh/geometry/geometric_factors.hpp"
#include "mesh/lanes/padded_cells.hpp"
#include "mesh/lanes/simd.hpp"
#include "mesh/saturated.hpp"
#include "operators/stencil/device_stencil.hpp"
#include "operators/stencil/stencil.hpp"
#include "operators/tensor/compressed/factors.hpp"
#include "operators/tensor/gpu/any_degree.hpp"
#include "operators/tensor/gpu/factors.hpp"

namespace tessera {
namespace {

Index point_count(const OperatorSize& size) {
  return Saturated(size.mesh.cell_count()) * power(size.points, size.mesh.dimension());
}

Index coefficient_bytes(const OperatorSize& size) {
  if (size.coefficient == CoefficientKind::constant) return 0;
  return Saturated(point_count(size)) * size.value_bytes;
}

Index position_bytes(const OperatorSize& size) {
  return Saturated(size.lattice.size()) * size.mesh.dimension() * sizeof(double);
}

// Cells whose factors are there at a time while all are checked.
Index checked_cells(const OperatorSize& size) {
  return std::min(factor_chunk_cells(size.mesh.dimension(), size.points, sizeof(double)),
                  size.mesh.cell_count());
}

CompressedLayout layout_of(const OperatorSize& size) {
  return compressed_layout(size.lattice.degree(), size.points);
}

// Where k varies it may do so by orders of magnitude within a cell, and then nothing is packed:
// what is known only when the factors have been made.
CompressedBits foreseen_bits(const OperatorSize& size) {
  return size.coefficient == CoefficientKind::constant ? compressed_bits(size.value_bytes)
                                                       : plain_bits(size.value_bytes);
}

Index device_scratch_bytes(const OperatorSize& size) {
  return block_scratch_bytes(
      tensor_any_block_bytes(size.mesh.dimension(), size.points, size.value_bytes));
}

}  // namespace

Index batched_cells(const OperatorSize& size) {
  const auto lanes = static_cast<int>(static_cast<Index>(kSimdBytes) / size.value_bytes);
  return padded_cells(size.mesh, lanes, cell_working_set(size.lattice, size.value_bytes),
                      omp_get_max_threads());
}

Index stored_factor_bytes(const OperatorSize& size) {
  return geometric_factor_bytes(size.factors, size.mesh.dimension(), batched_cells(size),
                                size.points, size.value_bytes);
}

Index geometry_bytes(const OperatorSize& size) {
  switch (size.geometry) {
    case GeometryForm::stored:
      return stored_factor_bytes(size);
    case GeometryForm::compressed:
      break;
    case GeometryForm::on_the_fly:
      return coefficient_bytes(size);
    case GeometryForm::stencil:
      return stencil_bytes(size.lattice, size.value_bytes);
  }
  throw std::logic_error("a geometry form that the host does not have");
}

Index geometry_peak_bytes(const OperatorSize& size) {
  if (size.geometry != GeometryForm::stencil) return geometry_bytes(size);
  return stencil_peak_bytes(size.factors, size.lattice, size.mesh.cell_count(), size.points,
                            size.value_bytes);
}

Index device_stored_factor_bytes(const OperatorSize& size) {
  return Saturated(device_scratch_bytes(size)) +
         device_factor_bytes(size.factors, size.mesh.dimension(), size.mesh.cell_count(),
                             size.points, size.value_bytes);
}

Index device_stored_factor_peak_bytes(const OperatorSize& size) {
  return Saturated(device_scratch_bytes(size)) +
         device_factor_peak_bytes(size.factors, size.mesh.dimension(), size.mesh.cell_count(),
                                  size.points, size.lattice.size(), size.value_bytes);
}

Index device_geometry_bytes(const OperatorSize& size) {
  switch (size.geometry) {
    case GeometryForm::stored:
      return device_stored_factor_bytes(size);
    case GeometryForm::compressed:
      return Saturated(device_scratch_bytes(size)) +
             compressed_factor_bytes(layout_of(size), size.mesh.cell_count(), foreseen_bits(size));
    case GeometryForm::on_the_fly:
      return Saturated(device_scratch_bytes(size)) + position_bytes(size) + coefficient_bytes(size);
    case GeometryForm::stencil:
      return device_stencil_bytes(size.lattice, size.value_bytes);
  }
  throw std::logic_error("a geometry form whose bytes are not counted");
}

Index device_geometry_peak_bytes(const OperatorSize& size) {
  switch (size.geometry) {
    case GeometryForm::stored:
      return device_stored_factor_peak_bytes(size);
    case GeometryForm::compressed:
      return Saturated(device_scratch_bytes(size)) +
             compressed_factor_peak_bytes(layout_of(size), size.mesh.cell_count(),
                                          size.lattice.size(), foreseen_bits(size));
    case GeometryForm::on_the_fly:
      return Saturated(device_scratch_bytes(size)) +
             std::max<Index>(Saturated(position_bytes(size)) + coefficient_bytes(size),
                             device_factor_peak_bytes(FactorKind::general, size.mesh.dimension(),
                                                      checked_cells(size), size.points,
                                                      size.lattice.size(), sizeof(double)));
    case GeometryForm::stencil:
      return device_stencil_peak_bytes(size.factors, size.lattice, size.mesh.cell_count(),
                                       size.points, size.value_bytes);
  }
  throw std::logic_error("a geometry form whose bytes are not counted");
}

}  // namespace tessera
