// This file computes local matrices from the tensor kernel, and multiplies by them.
#include "operators/local/local.hpp"

#include <algorithm>

#include "mesh/partition.hpp"
#include "mesh/saturated.hpp"
#include "operators/cells/element_kernel.hpp"

namespace tessera {
namespace {

constexpr int kRowBlock = 4;

// Calls f(j, column) with column[i] = K_c[i][j] for each column of a batch's matrices.
template <class T, class F>
void for_each_column(const CellKernel<T>& kernel, const CellBatch& batch, int nodes,
                     Lanes<T>* workspace, F&& f) {
  Lanes<T>* unit = workspace;
  Lanes<T>* column = unit + nodes;
  Lanes<T>* scratch = column + nodes;
  std::fill_n(unit, nodes, Lanes<T>{});
  for (int j = 0; j < nodes; ++j) {
    unit[j] = broadcast(T{1});
    kernel.apply(batch, unit, column, scratch);
    unit[j] = Lanes<T>{};
    f(j, static_cast<const Lanes<T>*>(column));
  }
}

}  // namespace

Index local_matrix_bytes(FactorKind kind, int dimension, Index cells, int degree,
                         Index value_bytes) {
  const Index n = power(degree + 1, dimension);
  if (kind == FactorKind::constant) return 2 * ceil_div(n, 2) * ceil_div(n, 2) * value_bytes;
  return Saturated(cells) * (n * (n + 1) / 2) * value_bytes;
}

template <class T>
LocalMatrices<T>::LocalMatrices(const Discretization& discretization, const CellBatches& batches,
                                std::shared_ptr<GeometricFactors<T>> factors)
    : shared_(factors->kind() == FactorKind::constant),
      nodes_(discretization.lattice.nodes_per_cell()) {
  const auto kernel = make_element_kernel<T>(discretization, std::move(factors));
  if (shared_) {
    fill_shared(*kernel);
  } else {
    fill_per_cell(batches, *kernel);
  }
}

template <class T>
void LocalMatrices<T>::fill_shared(const CellKernel<T>& kernel) {
  const int half = (nodes_ + 1) / 2;
  even_.resize(static_cast<std::size_t>(half) * half);
  odd_.resize(even_.size());
  HostArray<Lanes<T>> workspace(static_cast<std::size_t>(2 * nodes_ + kernel.scratch_size()));
  const CellBatch any{};
  for_each_column(kernel, any, nodes_, workspace.data(), [&](int j, const Lanes<T>* column) {
    const int mirrored = nodes_ - 1 - j;
    for (int i = 0; i < half; ++i) {
      // Column N-1-j is column j upside down, so one column gives K[i][j] and K[i][N-1-j].
      if (j > mirrored) continue;
      const T left = column[i][0];
      const T right = column[nodes_ - 1 - i][0];
      even_[i * half + j] = j == mirrored ? left : (left + right) / 2;
      odd_[i * half + j] = j == mirrored ? T{0} : (left - right) / 2;
    }
  });
}

template <class T>
void LocalMatrices<T>::fill_per_cell(const CellBatches& batches, const CellKernel<T>& kernel) {
  const Index triangle = Index{nodes_} * (nodes_ + 1) / 2;
  per_cell_.resize(static_cast<std::size_t>(batches.batch_count() * triangle));
  parallel_ranges(static_cast<Index>(batches.bricks().size()), [&](Range range) {
    HostArray<Lanes<T>> workspace(static_cast<std::size_t>(2 * nodes_ + kernel.scratch_size()));
    for (Index b = range.begin; b < range.end; ++b) {
      batches.for_each_batch(batches.bricks()[b], [&](const CellBatch& batch) {
        Lanes<T>* matrix = per_cell_.data() + batch.index * triangle;
        for_each_column(kernel, batch, nodes_, workspace.data(),
                        [&](int j, const Lanes<T>* column) {
                          for (Index i = j; i < nodes_; ++i) {
                            matrix[i * (i + 1) / 2 + j] = column[i];
                          }
                        });
      });
    }
  });
}

template <class T>
void LocalMatrices<T>::multiply(Index batch, const Lanes<T>* u, Lanes<T>* v,
                                Lanes<T>* scratch) const {
  if (shared_) {
    multiply_shared(u, v, scratch);
  } else {
    const Index triangle = Index{nodes_} * (nodes_ + 1) / 2;
    multiply_per_cell(per_cell_.data() + batch * triangle, u, v);
  }
}

template <class T>
void LocalMatrices<T>::multiply_shared(const Lanes<T>* u, Lanes<T>* v, Lanes<T>* scratch) const {
  const int pairs = nodes_ / 2;
  const int half = (nodes_ + 1) / 2;
  Lanes<T>* e = scratch;
  Lanes<T>* o = scratch + half;
  for (int j = 0; j < pairs; ++j) {
    e[j] = u[j] + u[nodes_ - 1 - j];
    o[j] = u[j] - u[nodes_ - 1 - j];
  }
  if (half > pairs) {
    e[pairs] = u[pairs];
    o[pairs] = Lanes<T>{};
  }
  // Blocks of rows keep their sums in registers while e and o are read once.
  const auto multiply_rows = [&]<int kRows>(int first) {
    Lanes<T> even_sum[kRows] = {};
    Lanes<T> odd_sum[kRows] = {};
    const T* even = even_.data() + Index{first} * half;
    const T* odd = odd_.data() + Index{first} * half;
    for (int j = 0; j < half; ++j) {
      const Lanes<T> e_j = e[j];
      const Lanes<T> o_j = o[j];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        even_sum[r] += even[r * half + j] * e_j;
        odd_sum[r] += odd[r * half + j] * o_j;
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      v[first + r] = even_sum[r] + odd_sum[r];
      v[nodes_ - 1 - first - r] = even_sum[r] - odd_sum[r];
    }
  };
  int row = 0;
  for (; row + kRowBlock <= half; row += kRowBlock) {
    multiply_rows.template operator()<kRowBlock>(row);
  }
  for (; row < half; ++row) multiply_rows.template operator()<1>(row);
}

template <class T>
void LocalMatrices<T>::multiply_per_cell(const Lanes<T>* matrix, const Lanes<T>* u,
                                         Lanes<T>* v) const {
  for (int i = 0; i < nodes_; ++i) {
    const Lanes<T> u_i = u[i];
    Lanes<T> sum[4] = {};
    int j = 0;
    // Four sums hide the latency of the multiply-adds.
    for (; j + 4 <= i; j += 4) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        sum[k] += matrix[j + k] * u[j + k];
        v[j + k] += matrix[j + k] * u_i;
      }
    }
    for (; j < i; ++j) {
      sum[0] += matrix[j] * u[j];
      v[j] += matrix[j] * u_i;
    }
    v[i] = matrix[i] * u_i + (sum[0] + sum[1]) + (sum[2] + sum[3]);
    matrix += i + 1;
  }
}

template <class T>
void LocalMatrices<T>::diagonal(Index batch, Lanes<T>* d) const {
  const int half = (nodes_ + 1) / 2;
  const Index triangle = Index{nodes_} * (nodes_ + 1) / 2;
  for (int i = 0; i < nodes_; ++i) {
    if (shared_) {
      const int k = std::min(i, nodes_ - 1 - i);
      d[i] = broadcast(even_[Index{k} * half + k] + odd_[Index{k} * half + k]);
    } else {
      d[i] = per_cell_[batch * triangle + Index{i} * (i + 1) / 2 + i];
    }
  }
}

template <class T>
Index LocalMatrices<T>::bytes() const {
  return static_cast<Index>((even_.size() + odd_.size()) * sizeof(T) +
                            per_cell_.size() * sizeof(Lanes<T>));
}

template class LocalMatrices<double>;
template class LocalMatrices<float>;

}  // namespace tessera
