// The matrix is assembled on the GPU, and applied there with entries in either precision.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
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

/// The names of the strategies.
inline constexpr char kCsr[] = "csr";
inline constexpr char kRoundedCsr[] = "csr-single";

/// Columns have 32 bits.
inline constexpr Index kMaxRowsOnGpu = std::numeric_limits<std::int32_t>::max();

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

/// Bytes of the assembled matrix on the GPU, before building it; row starts have 64 bits.
inline Index device_csr_bytes(const NodeLattice& lattice, FaceSet dirichlet, Index value_bytes) {
  constexpr Index kColumnBytes = sizeof(std::int32_t);
  constexpr Index kStartBytes = sizeof(std::int64_t);
  return Saturated(csr_nonzeros(lattice, dirichlet)) * (value_bytes + kColumnBytes) +
         (Saturated(lattice.size()) + 1) * kStartBytes;
}

/// The most bytes while it is made: the matrix and the local matrices.
inline Index device_csr_peak_bytes(FactorKind kind, const BoxMesh& mesh, const NodeLattice& lattice,
                                   FaceSet dirichlet, Index value_bytes) {
  const Index local_matrices =
      value_bytes * (kind == FactorKind::constant ? power(lattice.nodes_per_cell(), 2)
                                                  : csr_scratch(mesh, lattice, value_bytes).values);
  return Saturated(device_csr_bytes(lattice, dirichlet, value_bytes)) + local_matrices;
}

/// Bytes of the matrix in double precision once its entries are rounded to single precision: these,
/// and what is left of each row.
inline Index rounded_csr_bytes(const NodeLattice& lattice, FaceSet dirichlet) {
  return Saturated(device_csr_bytes(lattice, dirichlet, sizeof(float))) +
         Saturated(lattice.size()) * sizeof(double);
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

/// y = A x with the assembled matrix. 1 to 32 threads sum a row, by how long rows are on the mean,
/// in a fixed order: the same bits in every run. apply() allocates nothing on the GPU and can be
/// captured in a CUDA graph. Bytes a DoF: 12 a nonzero (single precision: 8) and 24 (16).
/// @throws as assemble_on_device()
template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_csr_operator(
    const BilinearForm& form, const DeviceCellKernel<T>& kernel);

/// The same with entries in single precision: 8 bytes a nonzero, whatever T is.
///
/// Entries differ by 2^-24 of themselves, but sums of rows do not: with r_i = sum over j of a_ij -
/// float(a_ij) in double precision,
///
///     y_i = sum over j of float(a_ij) x_j + r_i x_i.
///
/// So A x = sum over j of float(a_ij) (x_j - x_i) + (sum over j of a_ij) x_i: constants have what
/// they have with the matrix itself, and the error is relative to the entries times differences of
/// x; along the long axis of cells stretched s times that is s^2 times the error of others. a_ij
/// and a_ji are rounded to the same number. A rank rounds what its own cells add, so that other
/// ranks have another matrix. In single precision this is the matrix itself.
/// @throws as assemble_on_device()
template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_rounded_csr_operator(
    const BilinearForm& form, const DeviceCellKernel<T>& kernel);

}  // namespace tessera
