// This reference does block Jacobi sweeps on a dense matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "operators/block_jacobi/block_jacobi.hpp"
#include "operators/strategy.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {

/// Block Jacobi sweeps by loops over a dense matrix, in double and in one thread.
class DenseBlockJacobi {
 public:
  DenseBlockJacobi(const BilinearForm& form, const IndexTriple& brick)
      : n_(form.discretization->lattice.size()),
        block_of_(n_),
        matrix_(static_cast<std::size_t>(n_ * n_)) {
    const auto a = make_operator<double>({"tensor", "serial"}, form);
    HostVector<double> unit(n_);
    HostVector<double> column(n_);
    for (Index j = 0; j < n_; ++j) {
      unit[j] = 1.0;
      a->apply(unit, column);
      unit[j] = 0.0;
      for (Index i = 0; i < n_; ++i) matrix_[i * n_ + j] = column[i];
    }
    // The same cuts as the library's, found node by node: part k of n nodes in m parts.
    const NodeLattice& lattice = form.discretization->lattice;
    IndexTriple parts;
    for (int d = 0; d < 3; ++d) {
      parts[d] = (lattice.extents()[d] + brick[d] - 1) / brick[d];
    }
    for (Index i = 0; i < n_; ++i) {
      const IndexTriple node = lattice.node_position(i);
      IndexTriple part;
      for (int d = 0; d < 3; ++d) part[d] = part_of(node[d], lattice.extents()[d], parts[d]);
      block_of_[i] = part[0] + parts[0] * (part[1] + parts[1] * part[2]);
    }
  }

  Index size() const { return n_; }
  double entry(Index i, Index j) const { return matrix_[i * n_ + j]; }
  bool share_block(Index i, Index j) const { return block_of_[i] == block_of_[j]; }

  /// x after so many outer sweeps from x.
  std::vector<double> smooth(const std::vector<double>& b, std::vector<double> x, int sweeps,
                             const BlockSweep& sweep) const {
    for (int outer = 0; outer < sweeps; ++outer) {
      std::vector<double> y = x;
      for (int local = 0; local < sweep.local_sweeps; ++local) {
        std::vector<double> next = y;
        for (Index i = 0; i < n_; ++i) {
          double r = b[i];
          for (Index j = 0; j < n_; ++j) r -= entry(i, j) * (share_block(i, j) ? y[j] : x[j]);
          next[i] += sweep.damping * r / entry(i, i);
        }
        y = next;
      }
      for (Index i = 0; i < n_; ++i) x[i] += sweep.factor * (y[i] - x[i]);
    }
    return x;
  }

 private:
  static Index part_of(Index at, Index n, Index parts) {
    const Index size = n / parts;
    const Index longer = n % parts;
    return at < longer * (size + 1) ? at / (size + 1) : longer + (at - longer * (size + 1)) / size;
  }

  Index n_;
  std::vector<Index> block_of_;
  std::vector<double> matrix_;
};

/// Bricks that cut the small lattices of tests into several blocks of unequal size.
inline IndexTriple small_brick(int dimension) {
  return dimension == 3 ? IndexTriple{4, 3, 3} : IndexTriple{4, 3, 1};
}

/// Cells for a few hundred nodes, different along every axis.
inline IndexTriple cells_of_few_nodes(int dimension, int degree) {
  if (dimension == 2) return degree == 1 ? IndexTriple{13, 9, 1} : IndexTriple{5, 3, 1};
  return degree == 1   ? IndexTriple{7, 5, 4}
         : degree == 2 ? IndexTriple{4, 2, 3}
                       : IndexTriple{2, 1, 1};
}

}  // namespace tessera::testing
