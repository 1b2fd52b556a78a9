// This is the way to the kernel that adds diagonals with one thread a line.
#pragma once

#include "mesh/element/basis_1d.hpp"
#include "operators/cells/device_cells.hpp"
#include "operators/tensor/gpu/factors.hpp"

namespace tessera {

/// Whether add_diagonal_by_lines() has a kernel for cells like these.
bool has_diagonal_lines(const CellGrid& grid, const Basis1D& basis, FactorKind kind);

/// d += diag(K_c) of cells that share no node, of `general` factors in 3D. Asynchronous.
/// @throws DeviceError
template <class T>
void add_diagonal_by_lines(const Basis1D& basis, const CellGrid& grid, const CellRange& range,
                           const FactorView<T>& factors, T* d);

}  // namespace tessera
