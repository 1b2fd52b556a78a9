// Bytes of the geometric factors of the kernel tensor.
#pragma once

#include "operators/form/factor_storage.hpp"
#include "operators/form/form_shape.hpp"

namespace tessera {

/// What the kernel tensor holds of the geometry, without a scatter, and the most while it is made.
/// With m points per axis, N nodes, C cells, e = d (d + 1) / 2 entries and v bytes per value:
///   stored      e v C m^d
///   compressed  32 C m^3 + 24 C on the host, 32 C m^3 + 32 C and padding on the GPU (single
///               precision: 16 C m^3 + ..); on the GPU, where k varies, 6 v C m^3 + 32 C, because
///               nothing may be packed then
///   of a mass matrix v C m^d, or nothing where cells are alike
///   on-the-fly  8 d N on the GPU (the host has the positions anyway), v C m^d where k varies
/// and on the GPU what blocks of the kernel of run-time size keep (block_scratch.hpp).
Index factor_bytes(FactorStorage storage, const FormShape& shape);
Index device_factor_bytes(FactorStorage storage, const FormShape& shape);
Index device_factor_peak_bytes(FactorStorage storage, const FormShape& shape);

/// Bytes of GPU memory of what is there only while the diagonal is found: factors that are not
/// stored, a slab of cells at a time.
Index device_diagonal_bytes(FactorStorage storage, const FormShape& shape);

}  // namespace tessera
