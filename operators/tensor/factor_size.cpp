// Bytes of geometric factors, known from the shape of a form.
#include "operators/tensor/factor_size.hpp"

#include <algorithm>
#include <stdexcept>

#include "mesh/geometry/geometric_factors.hpp"
#include "mesh/saturated.hpp"
#include "operators/cells/batching.hpp"
#include "operators/cells/element_kernel.hpp"
#include "operators/tensor/compressed/batches.hpp"
#include "operators/tensor/compressed/factors.hpp"
#include "operators/tensor/gpu/any_degree.hpp"
#include "operators/tensor/gpu/factors.hpp"
#include "operators/tensor/gpu/general_diagonal.hpp"
#include "operators/tensor/with_rule.hpp"

namespace tessera {
namespace {

Index point_count(const FormShape& shape) {
  return Saturated(shape.mesh.cell_count()) * power(shape.points, shape.dimension());
}

// Of coefficient and reaction, where they vary.
Index field_bytes(const FormShape& shape) {
  const int varying = (shape.coefficient == CoefficientKind::constant ? 0 : 1) +
                      (shape.reaction == ReactionKind::varying ? 1 : 0);
  return Saturated(point_count(shape)) * varying * shape.value_bytes;
}

Index position_bytes(const FormShape& shape) {
  return Saturated(shape.lattice.size()) * shape.dimension() * sizeof(double);
}

// Cells whose factors are held at the same time while all are checked.
Index checked_cells(const FormShape& shape) {
  return std::min(factor_chunk_cells(shape.dimension(), shape.points, sizeof(double)),
                  shape.mesh.cell_count());
}

// The state at which the fields of a form are taken while factors are made.
Index state_bytes(const FormShape& shape) {
  return shape.state == StateKind::given
             ? Saturated(shape.lattice.size()) * static_cast<Index>(sizeof(double))
             : Saturated(0);
}

CompressedLayout layout_of(const FormShape& shape) {
  return compressed_layout(shape.degree(), shape.points, shape.value_bytes);
}

// Where k varies it may do so by orders of magnitude within a cell, and then nothing is packed:
// what is known only when the factors have been made.
CompressedBits foreseen_bits(const FormShape& shape) {
  return shape.coefficient == CoefficientKind::constant ? many_bits(shape.value_bytes)
                                                        : plain_bits(shape.value_bytes);
}

// On the host few bits may do, which is known only when the factors have been made, unless they do
// not vary in a cell.
CompressedBits foreseen_host_bits(const FormShape& shape) {
  const bool vary =
      shape.mesh_kind == MeshKind::mapped || shape.coefficient != CoefficientKind::constant;
  return vary ? many_bits(shape.value_bytes) : few_bits(shape.value_bytes);
}

// Of mass matrices that are stored: a value a point.
Index mass_bytes(const FormShape& shape, Index cells) {
  return Saturated(cells) * power(shape.points, shape.dimension()) * shape.value_bytes;
}

bool stores_mass(const FormShape& shape) {
  return shape.terms == FormTerms::mass && shape.factors() != FactorKind::constant;
}

// Whether the GPU has a kernel for the mass matrix.
bool has_device_mass_kernel(const FormShape& shape) {
  return shape.terms == FormTerms::mass && has_fast_tensor_kernel(shape.degree(), shape.points);
}

Index device_mass_bytes(const FormShape& shape) {
  return stores_mass(shape) ? mass_bytes(shape, shape.mesh.cell_count()) : Index{0};
}

Index device_scratch_bytes(const FormShape& shape) {
  return block_scratch_bytes(
      tensor_any_cell_bytes(shape.dimension(), shape.points, shape.value_bytes));
}

}  // namespace

Index element_factor_bytes(const FormShape& shape) {
  if (stores_mass(shape)) return mass_bytes(shape, batched_cells(shape));
  return geometric_factor_bytes(shape.factors(), shape.reaction, shape.dimension(),
                                batched_cells(shape), shape.points, shape.value_bytes);
}

Index device_element_kernel_bytes(const FormShape& shape) {
  return Saturated(device_scratch_bytes(shape)) +
         device_factor_bytes(shape.factors(), shape.reaction, shape.dimension(),
                             shape.mesh.cell_count(), shape.points, shape.value_bytes);
}

Index device_element_kernel_peak_bytes(const FormShape& shape) {
  return Saturated(device_scratch_bytes(shape)) + state_bytes(shape) +
         device_factor_peak_bytes(shape.factors(), shape.reaction, shape.state, shape.dimension(),
                                  shape.mesh.cell_count(), shape.points, shape.value_bytes);
}

Index factor_bytes(FactorStorage storage, const FormShape& shape) {
  if (shape.terms == FormTerms::mass && storage == FactorStorage::compressed) {
    return element_factor_bytes(shape);
  }
  switch (storage) {
    case FactorStorage::stored:
      return element_factor_bytes(shape);
    case FactorStorage::compressed:
      return compressed_batch_bytes(shape.reaction, batched_cells(shape), shape.points,
                                    foreseen_host_bits(shape), shape.value_bytes);
    case FactorStorage::on_the_fly:
      return field_bytes(shape);
  }
  throw std::logic_error("a storage of factors whose bytes are not counted");
}

Index device_factor_bytes(FactorStorage storage, const FormShape& shape) {
  if (has_device_mass_kernel(shape)) return device_mass_bytes(shape);
  switch (storage) {
    case FactorStorage::stored:
      return device_element_kernel_bytes(shape);
    case FactorStorage::compressed:
      return Saturated(device_scratch_bytes(shape)) +
             compressed_factor_bytes(layout_of(shape), shape.reaction, shape.mesh.cell_count(),
                                     foreseen_bits(shape), shape.value_bytes);
    case FactorStorage::on_the_fly:
      return Saturated(device_scratch_bytes(shape)) + position_bytes(shape) + field_bytes(shape);
  }
  throw std::logic_error("a storage of factors whose bytes are not counted");
}

Index device_factor_peak_bytes(FactorStorage storage, const FormShape& shape) {
  if (has_device_mass_kernel(shape)) {
    // What is there while they are made is as for all factors.
    return Saturated(device_mass_bytes(shape)) + device_element_kernel_peak_bytes(shape) -
           device_factor_bytes(shape.factors(), shape.reaction, shape.dimension(),
                               shape.mesh.cell_count(), shape.points, shape.value_bytes);
  }
  switch (storage) {
    case FactorStorage::stored:
      return device_element_kernel_peak_bytes(shape);
    case FactorStorage::compressed:
      return Saturated(device_scratch_bytes(shape)) + state_bytes(shape) +
             compressed_factor_peak_bytes(layout_of(shape), shape.reaction, shape.state,
                                          shape.mesh.cell_count(), foreseen_bits(shape),
                                          shape.value_bytes);
    case FactorStorage::on_the_fly:
      return Saturated(device_scratch_bytes(shape)) + position_bytes(shape) + state_bytes(shape) +
             std::max<Index>(
                 field_bytes(shape),
                 device_factor_peak_bytes(FactorKind::general, shape.reaction, shape.state,
                                          shape.dimension(), checked_cells(shape), shape.points,
                                          sizeof(double)));
  }
  throw std::logic_error("a storage of factors whose bytes are not counted");
}

Index device_diagonal_bytes(FactorStorage storage, const FormShape& shape) {
  if (storage == FactorStorage::stored || shape.factors() != FactorKind::general) return 0;
  const Index cells = std::min(
      factor_chunk_cells(shape.dimension(), shape.points, shape.value_bytes, kDiagonalChunkBytes),
      shape.mesh.cell_count());
  return device_factor_peak_bytes(FactorKind::general, shape.reaction, shape.state,
                                  shape.dimension(), cells, shape.points, shape.value_bytes);
}

}  // namespace tessera
