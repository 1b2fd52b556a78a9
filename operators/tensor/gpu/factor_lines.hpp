// This is the way to the kernels that compute factors with one thread a line.
#pragma once

#include "mesh/element/basis_1d.hpp"
#include "operators/tensor/gpu/field_at_points.hpp"

namespace tessera {

struct GeometryArguments;

/// Whether make_factors_by_lines() can: mapped cells in 3D with p + 1 points, of which there are
/// few, and no deep program.
bool has_factors_by_lines(const Basis1D& basis, const GeometryArguments& arguments);

/// Makes D_q and r_q of cells, those of the two that are not null. Asynchronous. @throws
/// DeviceError
void make_factors_by_lines(const Basis1D& basis, const GeometryArguments& arguments, Index stride,
                           RoundedValues factors, RoundedValues reaction, Index* inverted);

}  // namespace tessera
