// This is what the tensor kernel of the host does in 3D with sizes known at compile time.
#pragma once

#include <array>

#include "operators/cells/prefetch.hpp"
#include "operators/tensor/cell_3d.hpp"
#include "operators/tensor/tensor.hpp"

namespace tessera {

/// Cache lines of the next batch to ask for with each of the 9 m^2 lines of values of this one,
/// where a point has so many vectors.
constexpr int lines_ahead_3d(int vectors, int m) {
  return lines_ahead(vectors * m * m * m, 9 * m * m);
}

template <class T, int dim, int P, int M>
void TensorKernel<T, dim, P, M>::apply_3d(const Lanes<T>* factors, const Next& next,
                                          const Lanes<T>* u, Lanes<T>* v, Lanes<T>* scratch) const {
  constexpr int N = P + 1;
  if (kind_ == FactorKind::constant) {
    apply_separable_3d<T, N>(mass_, stiffness_, u, v, scratch, next.rows);
    return;
  }
  const PointReaction<T> reaction{reaction_of(factors), reaction_scale()};
  const SweepMatrices<T, N, M> matrices(B_, G_, D_);
  const auto run = [&](auto&& multiply, auto ahead) {
    with_points<N, M>(
        where_points_are(), [&]<Points at>() __attribute__((always_inline)) {
          apply_gradient_3d<at>(matrices, matrices, u, v, scratch, multiply, reaction, ahead,
                                next.rows);
        });
  };
  if (kind_ == FactorKind::general) {
    run(
        [&](int first, Lanes<T>* gx, Lanes<T>* gy, Lanes<T>* gz) __attribute__((always_inline)) {
          const Lanes<T>* entries = factors + first * 6;
#pragma GCC unroll 16
          for (int q = 0; q < M; ++q, entries += 6) {
            multiply_by_entries(entries, gx[q], gy[q], gz[q]);
          }
        },
        Prefetch<lines_ahead_3d(6, M)>(next.factors));
  } else {
    const std::array<T, 3> scale = factors_->axis_scale();
    run(
        [&](int first, Lanes<T>* gx, Lanes<T>* gy, Lanes<T>* gz) __attribute__((always_inline)) {
#pragma GCC unroll 16
          for (int q = 0; q < M; ++q) {
            const Lanes<T> s = factors[first + q];
            gx[q] *= scale[0] * s;
            gy[q] *= scale[1] * s;
            gz[q] *= scale[2] * s;
          }
        },
        Prefetch<lines_ahead_3d(1, M)>(next.factors));
  }
}

template <class T, int dim, int P, int M>
template <CompressedBits bits>
void TensorKernel<T, dim, P, M>::apply_compressed(Index batch, const RowsAhead<T>& rows,
                                                  const Lanes<T>* u, Lanes<T>* v,
                                                  Lanes<T>* scratch) const {
  constexpr int N = P + 1;
  const SweepMatrices<T, N, M> there(B_, G_, D_);
  const SweepMatrices<T, N, M> back(B_weighted_, G_weighted_, D_weighted_);
  const BatchHeader<T> header(compressed_->batch(batch));
  const WordLanes<T>* const words = compressed_->batch(batch) + kHeaderVectors<T>;
  apply_gradient_3d<Points::own>(
      there, back, u, v, scratch,
      [&](int first, Lanes<T>* gx, Lanes<T>* gy, Lanes<T>* gz) __attribute__((always_inline)) {
        const WordLanes<T>* point = words + first * kPointVectors<T, bits>;
#pragma GCC unroll 16
        for (int q = 0; q < M; ++q, point += kPointVectors<T, bits>) {
          Lanes<T> entries[6];
          read_entries<bits>(point, header, entries);
          multiply_by_entries(entries, gx[q], gy[q], gz[q]);
        }
      },
      PointReaction<T>{compressed_->reaction_of(batch), reaction_scale()},
      Prefetch<lines_ahead_3d(kPointVectors<T, bits>, M)>(compressed_->batch(batch + 1)), rows);
}

}  // namespace tessera
