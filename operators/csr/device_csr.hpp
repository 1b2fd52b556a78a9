// The strategy csr on the GPU is assembled there, and applied slab by slab.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "mesh/box_mesh.hpp"
#include "mesh/geometry/factor_kind.hpp"
#include "mesh/node_lattice.hpp"
#include "mesh/saturated.hpp"
#include "operators/cells/device_cells.hpp"
#include "operators/csr/size.hpp"
#include "operators/form/bilinear_form.hpp"
#include "solvers/linear_operator.hpp"
#include "solvers/sparse_rows.hpp"

namespace tessera {

/// The most that local matrices take while a matrix is made on the GPU, unless one layer of cells
/// of a color takes more.
inline constexpr Index kCsrScratchBytes = Index{512} << 20;

/// Room for the local matrices of as many layers of cells, of one color and across the slowest
/// axis, as kCsrScratchBytes holds, at least one.
struct CsrScratch {
  Index layers;
  Index values;  // cells x N^2, N = (p + 1)^d
};

inline CsrScratch csr_scratch(const BoxMesh& mesh, const NodeLattice& lattice, Index value_bytes) {
  // The first color has the most cells along every axis. In floating point: a layer of a mesh that
  // fits no memory may overflow.
  const int slowest = mesh.dimension() - 1;
  auto layer_values = static_cast<double>(power(lattice.nodes_per_cell(), 2));
  for (int d = 0; d < slowest; ++d) {
    layer_values *= static_cast<double>(ceil_div(mesh.cells()[d], 2));
  }
  constexpr double kMaxValues = 1e18;
  layer_values = std::min(layer_values, kMaxValues / static_cast<double>(value_bytes));
  const Index layers =
      std::clamp<Index>(static_cast<Index>(static_cast<double>(kCsrScratchBytes) /
                                           (layer_values * static_cast<double>(value_bytes))),
                        1, ceil_div(mesh.cells()[slowest], 2));
  return {layers, layers * static_cast<Index>(layer_values)};
}

/// cuSPARSE fails from 2^31 - 1 nonzeros on, with 64-bit indices as well (12.6), so a matrix is cut
/// into slabs of no more rows and entries together than this, each with 32-bit offsets of its own.
inline constexpr Index kMaxSlabEntries = (Index{1} << 31) - (Index{1} << 28);

/// Bytes of the assembled matrix on the GPU, before building it; cuSPARSE's workspace is not in it.
inline Index device_csr_bytes(const NodeLattice& lattice, FaceSet dirichlet, Index value_bytes) {
  constexpr Index kIndexBytes = sizeof(std::int32_t);
  const Index nonzeros = csr_nonzeros(lattice, dirichlet);
  const Index slabs = (Saturated(nonzeros) + lattice.size()) / kMaxSlabEntries + 1;
  return Saturated(nonzeros) * (value_bytes + kIndexBytes) + (lattice.size() + slabs) * kIndexBytes;
}

/// The most bytes while it is made, workspaces apart: the matrix, 64-bit row starts and either the
/// local matrices or, later, the two vectors that algorithms are timed with.
inline Index device_csr_peak_bytes(FactorKind kind, const BoxMesh& mesh, const NodeLattice& lattice,
                                   FaceSet dirichlet, Index value_bytes) {
  const Index local_matrices =
      value_bytes * (kind == FactorKind::constant ? power(lattice.nodes_per_cell(), 2)
                                                  : csr_scratch(mesh, lattice, value_bytes).values);
  const Index vectors = 2 * lattice.size() * value_bytes;
  const Index row_starts = lattice.size() * static_cast<Index>(sizeof(Index));
  return Saturated(device_csr_bytes(lattice, dirichlet, value_bytes)) +
         std::max<Index>(Saturated(row_starts) + local_matrices, vectors);
}

/// The assembled matrix in compressed sparse rows on the GPU.
///
/// The matrix is made on the GPU. Free nodes couple to the free nodes of their cells, constrained
/// rows hold 1 on the diagonal. On a lattice the columns of a free row are a box of
/// L_x x L_y x L_z nodes whose lowest is l, so that the entry of column c is number
/// ((c_z - l_z) L_y + c_y - l_y) L_x + c_x - l_x of its row: rows are counted, scanned and filled,
/// and every contribution knows its place. Local matrices come from the kernel, applied to the
/// N = (p + 1)^d unit vectors of some layers of cells of one color at a time (of one cell, where
/// all are alike), and are added without atomics; so are Robin faces. The same bits in every run.
/// @param kernel of the form, used only while the matrix is made
/// @throws std::invalid_argument for more than 2^31 - 1 rows
/// @throws BadFieldValue if a Robin alpha is negative or not finite at a face quadrature point,
///         DeviceOutOfMemory, DeviceError
template <class T>
DeviceSparseRows<T> assemble_on_device(const BilinearForm& form, const DeviceCellKernel<T>& kernel);

/// y = A x with the assembled matrix by cusparseSpMV.
///
/// The product need not be the same bits in every run: of cuSPARSE's CUSPARSE_SPMV_CSR_ALG1 (order
/// of sums not promised) and ALG2 (deterministic) the one is used that was faster when timed.
/// apply() allocates nothing on the GPU and can be captured in a CUDA graph.
/// @throws as assemble_on_device()
template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_csr_operator(
    const BilinearForm& form, const DeviceCellKernel<T>& kernel,
    Index max_slab_entries = kMaxSlabEntries);

}  // namespace tessera
