// LocalMatrices are the dense matrices of all cells, or one that all cells share.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "mesh/element/basis_1d.hpp"
#include "mesh/geometry/geometric_factors.hpp"
#include "mesh/lanes/cell_batches.hpp"
#include "operators/cells/cell_kernel.hpp"
#include "operators/form/factor_storage.hpp"

namespace tessera {

/// The matrices K_c of all cells: one where all cells are alike, else one a cell.
///
/// With N = (p+1)^d nodes a cell:
/// - shared: K is centrosymmetric, K[N-1-i][N-1-j] = K[i][j], because nodes, points and the cell
/// are
///   symmetric; it is kept as even and odd halves [ceil(N/2)][ceil(N/2)], half the entries and
///   work.
/// - per cell: the lower triangle, [batch][i (i+1)/2 + j][lane], j <= i, half the traffic.
template <class T>
class LocalMatrices {
 public:
  /// Computes the matrices column by column from the tensor kernel.
  LocalMatrices(const Discretization& discretization, const CellBatches& batches,
                std::shared_ptr<GeometricFactors<T>> factors);

  bool is_shared() const { return shared_; }
  int nodes() const { return nodes_; }
  Index bytes() const;

  /// v = K_c u for the cells of a batch; scratch has nodes() + 1 entries.
  void multiply(Index batch, const Lanes<T>* u, Lanes<T>* v, Lanes<T>* scratch) const;
  /// d[i] = K_c[i][i].
  void diagonal(Index batch, Lanes<T>* d) const;

 private:
  void fill_shared(const CellKernel<T>& kernel);
  void fill_per_cell(const CellBatches& batches, const CellKernel<T>& kernel);
  void multiply_shared(const Lanes<T>* u, Lanes<T>* v, Lanes<T>* scratch) const;
  void multiply_per_cell(const Lanes<T>* matrix, const Lanes<T>* u, Lanes<T>* v) const;

  bool shared_;
  int nodes_;
  HostArray<T> even_;
  HostArray<T> odd_;
  HostArray<Lanes<T>> per_cell_;
};

/// Bytes of the matrices of a mesh, before building them.
Index local_matrix_bytes(FactorKind kind, int dimension, Index cells, int degree,
                         Index value_bytes);

/// One batch of cells by its matrices: 2 N^2 flops a cell (N^2 + 2 N where they are shared).
/// @tparam P degree, 0 = known at run time only.
template <class T, int dim, int P>
class LocalKernel {
 public:
  using value_type = T;
  static constexpr int dimension = dim;
  static constexpr int degree = P;
  static constexpr bool kTakesCells = false;

  LocalKernel(int nodes_per_axis, std::shared_ptr<const LocalMatrices<T>> matrices)
      : nodes_per_axis_(nodes_per_axis), matrices_(std::move(matrices)) {}

  static constexpr std::string_view name() { return "local"; }
  static constexpr std::optional<FactorStorage> factor_storage() { return std::nullopt; }
  int nodes_per_axis() const { return nodes_per_axis_; }
  Index scratch_size() const { return matrices_->nodes() + 1; }
  void apply(Index batch, const Lanes<T>* u, Lanes<T>* v, Lanes<T>* scratch) const {
    matrices_->multiply(batch, u, v, scratch);
  }
  void diagonal(Index batch, Lanes<T>* d, Lanes<T>*) const { matrices_->diagonal(batch, d); }
  double flops_per_cell() const {
    const double nodes = matrices_->nodes();
    return matrices_->is_shared() ? even_odd_line_flops(nodes, nodes) : 2.0 * nodes * nodes;
  }
  Index bytes() const { return matrices_->bytes(); }
  Index streamed_bytes() const { return bytes(); }

 private:
  int nodes_per_axis_;
  std::shared_ptr<const LocalMatrices<T>> matrices_;
};

extern template class LocalMatrices<double>;
extern template class LocalMatrices<float>;

}  // namespace tessera
