// This is what the tensor kernel of the host does in 2D with sizes known at compile time.
#pragma once

#include <array>

#include "operators/cells/prefetch.hpp"
#include "operators/tensor/cell_2d.hpp"
#include "operators/tensor/sweeps/sweep_flops.hpp"
#include "operators/tensor/tensor.hpp"

namespace tessera {

/// Cache lines of the next batch to ask for with each of the 2 n + 2 m lines of values of this one,
/// where a point has so many vectors.
constexpr int lines_ahead_2d(int vectors, int n, int m) {
  return lines_ahead(vectors * m * m, 2 * n + 2 * m);
}

template <class T, int dim, int P, int M>
void TensorKernel<T, dim, P, M>::apply_2d(const Lanes<T>* factors, const Next& next,
                                          const Lanes<T>* u, Lanes<T>* v, Lanes<T>* scratch) const {
  constexpr int N = P + 1;
  if (kind_ == FactorKind::constant) {
    apply_separable_2d<T, N>(mass_, stiffness_, u, v, scratch);
    return;
  }
  const PointReaction<T> reaction{reaction_of(factors), reaction_scale()};
  const SweepMatrices<T, N, M> matrices(B_, G_, D_);
  const auto run = [&](auto&& multiply, auto ahead) {
    with_points<N, M>(
        where_points_are(), [&]<Points at>() __attribute__((always_inline)) {
          apply_gradient_2d<at>(matrices, u, v, scratch, multiply, reaction, ahead);
        });
  };
  if (kind_ == FactorKind::general) {
    run(
        [&](int first, Lanes<T>* gx, Lanes<T>* gy) __attribute__((always_inline)) {
          const Lanes<T>* entries = factors + first * 3;
#pragma GCC unroll 16
          for (int q = 0; q < M; ++q, entries += 3) {
            multiply_by_entries(entries, gx[q], gy[q]);
          }
        },
        Prefetch<lines_ahead_2d(3, N, M)>(next.factors));
  } else {
    const std::array<T, 3> scale = factors_->axis_scale();
    run(
        [&](int first, Lanes<T>* gx, Lanes<T>* gy) __attribute__((always_inline)) {
#pragma GCC unroll 16
          for (int q = 0; q < M; ++q) {
            const Lanes<T> s = factors[first + q];
            gx[q] *= scale[0] * s;
            gy[q] *= scale[1] * s;
          }
        },
        Prefetch<lines_ahead_2d(1, N, M)>(next.factors));
  }
}

template <class T, int dim, int P, int M>
double TensorKernel<T, dim, P, M>::flops_per_cell_2d() const {
  constexpr double n = P + 1;
  constexpr double m = M;
  if (kind_ == FactorKind::constant) return n * (4.0 * n * n + 6.0 * n);
  const bool reacts = reaction_ != ReactionKind::none;
  const double at_point = (kind_ == FactorKind::general ? 6.0 : 4.0) + (reacts ? 2.0 : 0.0);
  if (!collocated_) {
    const double values = reacts ? 2.0 * m * (m * n + m) : 0.0;
    return side_by_side_flops(2, n, m) + values + m * m * at_point;
  }
  const double sums = reacts ? 2.0 : 1.0;  // of what comes along the axes, and the reaction
  return 4.0 * m * even_odd_line_flops(m, m) + m * m * (at_point + sums);
}

}  // namespace tessera
