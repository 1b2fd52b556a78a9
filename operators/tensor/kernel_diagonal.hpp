// This is how the tensor kernel of the host finds its diagonal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "operators/tensor/tensor.hpp"

namespace tessera {

template <class T, int dim, int P, int M>
template <CompressedBits bits>
const Lanes<T>* TensorKernel<T, dim, P, M>::unpack_factors(Index batch, Lanes<T>* scratch) const {
  Lanes<T>* const factors = scratch + work_size();
  const BatchHeader<T> header(compressed_->batch(batch));
  const WordLanes<T>* words = compressed_->batch(batch) + kHeaderVectors<T>;
  const std::size_t points = weights_.size();
  for (std::size_t q = 0; q < points; ++q, words += kPointVectors<T, bits>) {
    Lanes<T> entries[6];
    read_entries<bits>(words, header, entries);
    for (int e = 0; e < 6; ++e) factors[q * 6 + e] = weights_[q] * entries[e];
    if (reaction_ == ReactionKind::none) continue;
    factors[points * 6 + q] = weights_[q] * compressed_->reaction_of(batch)[q];
  }
  return factors;
}

// [slow][m][fast] -> [slow][n][fast]: out = sum over the points q of matrix[i][q] in.
template <class T, int dim, int P, int M>
void TensorKernel<T, dim, P, M>::sum_points_of_axis(const Matrix1D& matrix, Index fast, Index slow,
                                                    const Lanes<T>* in, Lanes<T>* out) const {
  const int n = nodes_per_axis();
  const int m = points();
  for (Index s = 0; s < slow; ++s) {
    for (int i = 0; i < n; ++i) {
      for (Index f = 0; f < fast; ++f) {
        Lanes<T> sum{};
        for (int q = 0; q < m; ++q) {
          sum += static_cast<T>(matrix(i, q)) * in[(s * m + q) * fast + f];
        }
        out[(s * n + i) * fast + f] = sum;
      }
    }
  }
}

template <class T, int dim, int P, int M>
void TensorKernel<T, dim, P, M>::diagonal_of(const Lanes<T>* factors, Lanes<T>* d,
                                             Lanes<T>* scratch) const {
  const int n = nodes_per_axis();
  const int m = points();
  const int volume = static_cast<int>(power(m, dim));
  const int nodes = static_cast<int>(power(n, dim));
  const auto axes_of_entry = [](int entry) -> std::pair<int, int> {
    constexpr int kRow[2][6] = {{0, 0, 1, 0, 0, 0}, {0, 0, 0, 1, 1, 2}};
    constexpr int kColumn[2][6] = {{0, 1, 1, 0, 0, 0}, {0, 1, 2, 1, 2, 2}};
    return {kRow[dim - 2][entry], kColumn[dim - 2][entry]};
  };
  const bool general = kind_ == FactorKind::general;
  // After the entries of D_q comes r_q, with phi_i phi_i.
  const int terms = factor_entries(dim) + (reaction_ == ReactionKind::none ? 0 : 1);
  for (int i = 0; i < nodes; ++i) d[i] = Lanes<T>{};
  for (int entry = is_mass() ? factor_entries(dim) : 0; entry < terms; ++entry) {
    const bool is_reaction = entry == factor_entries(dim);
    const auto [row, column] = is_reaction ? std::pair(-1, -1) : axes_of_entry(entry);
    if (!general && row != column) continue;
    Lanes<T>* in = scratch;
    Lanes<T>* out = scratch + volume;
    if (is_reaction) {
      std::fill_n(out, volume, broadcast(T{1}));
      multiply_reaction(factors, 0, volume, out, in);
    }
    for (int q = 0; q < volume && !is_reaction; ++q) {
      if (general) {
        in[q] = factors[q * factor_entries(dim) + entry];
        if (row != column) in[q] += in[q];
      } else if (kind_ == FactorKind::scaled) {
        in[q] = factors_->axis_scale()[row] * factors[q];
      } else {
        in[q] = broadcast(factors_->axis_scale()[row] * factors_->shared_points()[q]);
      }
    }
    // [m]^d -> [n]^d, x first; D_q[a][b] meets dphi/dxi_a dphi/dxi_b = products over the axes.
    for (int axis = 0; axis < dim; ++axis) {
      const int hits = (axis == row ? 1 : 0) + (axis == column ? 1 : 0);
      const Matrix1D& matrix = hits == 2 ? GG_ : hits == 1 ? BG_ : BB_;
      sum_points_of_axis(matrix, power(n, axis), power(m, dim - 1 - axis), in, out);
      std::swap(in, out);
    }
    for (int i = 0; i < nodes; ++i) d[i] += in[i];
  }
}

}  // namespace tessera
