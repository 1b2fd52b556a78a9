// TensorAnySize is the tensor kernel for sizes without an unrolled one, and the diagonal of all
// sizes.
#pragma once

#include "mesh/element/basis_1d.hpp"
#include "operators/cells/block_scratch.hpp"
#include "operators/tensor/gpu/factors.hpp"

namespace tessera {

/// Bytes that it keeps of a cell: five tensors of points^dimension values.
constexpr Index tensor_any_cell_bytes(int dimension, int points, Index value_bytes) {
  return 5 * power(points, dimension) * value_bytes;
}

/// The tensor kernel of run-time size, for degrees and rules that have no unrolled one, and the
/// diagonal of every degree, by lines where add_diagonal_by_lines() has a kernel. A team of threads
/// a cell: all lines of an axis, then a barrier.
template <class T>
class TensorAnySize {
 public:
  explicit TensorAnySize(const BilinearForm& form);

  /// v_c = B^T D B u_c, or the sum of K (x) M (x) M where all cells are alike; every sink but
  /// SinkKind::patch.
  void apply(const CellGrid& grid, const CellRange& range, const CellSource<T>& source,
             const CellSink<T>& sink, const FactorView<T>& factors) const;
  /// d += diag(K_c), by contracting the entries of D_q with products of B and G.
  void add_diagonal(const CellGrid& grid, const CellRange& range, const FactorView<T>& factors,
                    T* d) const;
  Index bytes() const { return scratch_.global_bytes(); }

 private:
  Basis1D basis_;
  int points_;
  DeviceArray<T> B_, B_transposed_, D_, D_transposed_;  // by rows
  DeviceArray<T> M_, K_;                                // [i][j]
  DeviceArray<T> BB_, BG_, GG_;                         // products of entries, [i][q]
  BlockScratch scratch_;
};

extern template class TensorAnySize<double>;
extern template class TensorAnySize<float>;

}  // namespace tessera
