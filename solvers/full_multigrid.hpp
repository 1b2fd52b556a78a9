#pragma once

#include <functional>
#include <vector>

#include "solvers/linear_operator.hpp"
#include "solvers/smoothing_passes.hpp"
#include "solvers/transfer.hpp"

namespace tessera {

/// What full multigrid needs to know of a level.
template <class T, class Space>
struct StartLevel {
  const LinearOperator<T, Space>* a;
  const Vector<T, Space>* b;
  /// Values on constrained nodes, anything elsewhere.
  const Vector<T, Space>* given;
  /// 1 on constrained nodes, 0 elsewhere.
  const Vector<T, Space>* is_given;
  /// From the next coarser level, values on constrained nodes included; null on the coarsest.
  const Transfer<T, Space>* from_coarser;
};

/// Full multigrid (Briggs, Henson, McCormick, A Multigrid Tutorial, chapter 3): solves the
/// discretization on the coarsest level, and on each finer one starts from the coarser solution and
/// improves it by x += V (b - A x), `cycles` times. For as many cycles as halve the error once more
/// than the step to the next level does, the error is that of the discretization.
/// @param levels finest first
/// @param cycle z = V r on a level and those below
/// @param x on the finest level; what it held does not matter
template <class T, class Space, class Cycle>
void full_multigrid(const std::vector<StartLevel<T, Space>>& levels, Cycle&& cycle, int cycles,
                    Vector<T, Space>& x) {
  using V = Vector<T, Space>;
  V coarser;
  for (std::size_t l = levels.size(); l-- > 0;) {
    const StartLevel<T, Space>& level = levels[l];
    const std::int64_t n = level.a->size();
    V current(n);
    V r(n);
    V z(n);
    if (level.from_coarser != nullptr) level.from_coarser->add_prolonged(coarser, current);
    // current = given where it is.
    copy(current, r);
    subtract_in_place(*level.given, r);
    multiply(*level.is_given, r, z);
    axpy(T{1}, z, current);
    for (int c = 0; c < cycles; ++c) {
      level.a->apply(current, r);
      subtract_in_place(*level.b, r);
      cycle(l, r, z);
      axpy(T{1}, z, current);
    }
    coarser = std::move(current);
  }
  copy(coarser, x);
}

}  // namespace tessera
