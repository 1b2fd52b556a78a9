// SideBySideSweeps2D apply a 2D cell with one thread per line, by values and derivatives side by
// side.
#pragma once

#include "operators/tensor/sweeps/tested_line.cuh"

namespace tessera {

/// Sizes of the 2D kernels: M threads a cell, each with one line at a time; tensors in shared
/// memory are [y][x] with rows of odd length.
template <int P, int M>
struct Box2D {
  static constexpr int n = P + 1;
  static constexpr int row = M | 1;
  static constexpr int size = M * row;
};

/// u -> gradient at the points -> v of a cell by eight products a line and two waits of the block:
/// u interpolated and u differentiated along y go to the lines along x as pairs.
template <class T, int P, int M>
class SideBySideSweeps2D {
  static constexpr int n = P + 1;
  static constexpr int row = Box2D<P, M>::row;

 public:
  using Matrices = SideBySideMatrices<T, n, M>;

  /// @param a the thread's lines: x = a along y, y = a along x
  /// @param cell two tensors of Box2D<P, M>::size values in shared memory, aligned as a pair
  __device__ __forceinline__ SideBySideSweeps2D(const Matrices& lines, int a, bool active, T* cell)
      : lines_(lines), a_(a), active_(active), pairs_(reinterpret_cast<ValuePair<T>*>(cell)) {}

  /// u along the thread's line of nodes along y -> the gradient at the points of its line along x.
  __device__ __forceinline__ void gradient(const T (&u)[n], T (&gx)[M], T (&gy)[M]) const {
    // u [n][n] -> B and G along y -> pairs [M][n]
    if (active_ && a_ < n) {
      store_products<-1>(lines_.B, lines_.G, u, pairs_ + a_, row);
    }
    __syncthreads();
    // -> G along x of the values, B of the derivatives
    if (active_) {
      T line[n];
      T y_line[n];
      load_pairs(pairs_ + a_ * row, 1, line, y_line);
      multiply_even_odd<-1>(lines_.G, line, gx);
      multiply_even_odd<1>(lines_.B, y_line, gy);
    }
  }

  /// The transpose, with the weights of the matrices: v along the thread's line of nodes along y.
  /// @param at_points with AtPoints::values, weight(q) u is tested at the points of the thread's
  ///        line along x as well, u of the last gradient()
  template <class Weight>
  __device__ __forceinline__ void integrate(const T (&fx)[M], const T (&fy)[M], T (&v)[n],
                                            AtPoints at_points, Weight&& weight) const {
    // G^T along x of f_x, B^T of f_y -> pairs [M][n]
    if (active_) {
      ValuePair<T>* const line = pairs_ + a_ * row;
      T r[n];
      T y[n];
      test_line(lines_, fx, line, 1, at_points, weight, r);
      multiply_even_odd<1>(lines_.B_weighted, fy, y);
      store_pairs(line, 1, r, y);
    }
    __syncthreads();
    // -> B^T and G^T along y, added -> v [n][n]
    if (active_ && a_ < n) {
      load_sum_of_products<-1>(lines_.B_weighted, lines_.G_weighted, pairs_ + a_, row, v);
    }
  }

 private:
  const Matrices& lines_;
  int a_;
  bool active_;
  ValuePair<T>* pairs_;
};

}  // namespace tessera
