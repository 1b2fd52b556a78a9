// FullMultigrid computes a start for a solver from the coarsest level up.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "solvers/linear_operator.hpp"
#include "solvers/preconditioners/smoothing_passes.hpp"
#include "solvers/transfer.hpp"

namespace tessera {

/// What full multigrid needs to know of a level.
template <class T, class Space>
struct StartLevel {
  /// The operator of the level; on the finest level it is the operator of the solver.
  std::shared_ptr<const LinearOperator<T, Space>> a;
  /// The right-hand side; empty on the finest level, where run() is given it.
  Vector<T, Space> b;
  /// The values on constrained nodes, and any finite values elsewhere; empty on the finest level.
  Vector<T, Space> given;
  /// 1 on constrained nodes, 0 elsewhere.
  Vector<T, Space> is_given;
  /// The prolongation from the next coarser level, values on constrained nodes included; null on
  /// the coarsest level.
  std::unique_ptr<const Transfer<T, Space>> from_coarser;
};

/// Full multigrid (Briggs, Henson, McCormick, A Multigrid Tutorial, chapter 3): solves the
/// discretization on the coarsest level, and on each finer one starts from the coarser solution and
/// improves it by x += V (b - A x), `cycles` times. If these cycles reduce the error by more than
/// the step to a finer level does, the error that is left is that of the discretization.
template <class T, class Space>
class FullMultigrid {
 public:
  using V = Vector<T, Space>;

  /// @param levels the levels, finest first
  FullMultigrid(std::vector<StartLevel<T, Space>> levels, int cycles)
      : levels_(std::move(levels)), cycles_(cycles) {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const VectorLayout layout = levels_[l].a->layout();
      vectors_.push_back({V(l == 0 ? VectorLayout() : layout), V(layout), V(layout)});
    }
  }

  /// @param cycle cycle(l, r, z): z = V r on level l and those below
  /// @param b the right-hand side on the finest level
  /// @param x the solution on the finest level; on entry it has the values on constrained nodes and
  ///         any finite values elsewhere
  template <class Cycle>
  void run(Cycle&& cycle, const V& b, V& x) {
    for (std::size_t l = levels_.size(); l-- > 0;) {
      const StartLevel<T, Space>& level = levels_[l];
      V& r = vectors_[l].r;
      V& z = vectors_[l].z;
      V& current = l == 0 ? x : vectors_[l].x;
      // z = given on constrained nodes.
      multiply(level.is_given, l == 0 ? x : level.given, z);
      fill(current, T{0});
      if (level.from_coarser != nullptr)
        level.from_coarser->add_prolonged(vectors_[l + 1].x, current);
      multiply(level.is_given, current, r);
      axpy(T{-1}, r, current);
      axpy(T{1}, z, current);
      for (int c = 0; c < cycles_; ++c) {
        level.a->apply(current, r);
        subtract_in_place(l == 0 ? b : level.b, r);
        cycle(l, r, z);
        axpy(T{1}, z, current);
      }
    }
  }

 private:
  struct LevelVectors {
    V x;
    V r;
    V z;
  };

  std::vector<StartLevel<T, Space>> levels_;
  int cycles_;
  std::vector<LevelVectors> vectors_;
};

}  // namespace tessera
