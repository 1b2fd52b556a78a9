// The assembled matrix is applied by cuSPARSE, slab by slab.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "operators/csr/device_csr.hpp"

namespace tessera {

/// The name of the strategy.
inline constexpr char kCusparse[] = "csr-cusparse";

/// cuSPARSE fails from 2^31 - 1 nonzeros on, with 64-bit indices as well (12.6), so a matrix is cut
/// into slabs of no more rows and entries together than this, each with 32-bit offsets of its own.
inline constexpr Index kMaxSlabEntries = (Index{1} << 31) - (Index{1} << 28);

/// Bytes of the matrix as cuSPARSE has it, before building it; its workspace is not in it.
inline Index cusparse_bytes(const NodeLattice& lattice, FaceSet dirichlet, Index value_bytes) {
  constexpr Index kIndexBytes = sizeof(std::int32_t);
  const Index nonzeros = csr_nonzeros(lattice, dirichlet);
  const Index slabs = (Saturated(nonzeros) + lattice.size()) / kMaxSlabEntries + 1;
  return Saturated(nonzeros) * (value_bytes + kIndexBytes) +
         (Saturated(lattice.size()) + slabs) * kIndexBytes;
}

/// The most bytes while it is made, workspaces apart: the matrix with 64-bit row starts and either
/// the local matrices or, later, the offsets of slabs, or two vectors that algorithms are timed
/// with.
inline Index cusparse_peak_bytes(FactorKind kind, const BoxMesh& mesh, const NodeLattice& lattice,
                                 FaceSet dirichlet, Index value_bytes) {
  const Saturated held = cusparse_bytes(lattice, dirichlet, value_bytes);
  const Saturated size = lattice.size();
  return std::max<Index>({device_csr_peak_bytes(kind, mesh, lattice, dirichlet, value_bytes),
                          held + size * sizeof(std::int64_t), held + size * (2 * value_bytes)});
}

/// y = A x with the assembled matrix by cusparseSpMV.
///
/// The product need not be the same bits in every run: of cuSPARSE's CUSPARSE_SPMV_CSR_ALG1 (order
/// of sums not promised) and ALG2 (deterministic) the one is used that was faster when timed.
/// apply() allocates nothing on the GPU and can be captured in a CUDA graph.
/// @throws as assemble_on_device()
template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_cusparse_operator(
    const BilinearForm& form, const DeviceCellKernel<T>& kernel,
    Index max_slab_entries = kMaxSlabEntries);

}  // namespace tessera
