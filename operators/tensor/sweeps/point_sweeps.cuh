// PointSweeps apply a 3D cell with one thread per line, and differentiate in the points.
#pragma once

#include "operators/tensor/sweeps/at_points.hpp"
#include "operators/tensor/sweeps/line_thread.cuh"
#include "operators/tensor/sweeps/weighted_matrices.cuh"

namespace tessera {

/// u -> gradient at the points -> v of a cell by 12 products a line, 23 tensors of M^3 values that
/// are written to or read from shared memory, and eight waits: B along z, x and y, then D in the
/// points, as the GX and GZ of the thread's line along y in shared memory and g_y in registers.
///
/// @tparam OwnThread LineThread: whose launch, whose places in shared memory
template <class T, int P, int M, class OwnThread>
class PointSweeps {
  static constexpr int n = P + 1;
  static constexpr LineStrides kBox = point_strides<T>(M);
  static constexpr int kTensor = kBox.cell_step / 3;

 public:
  using Thread = OwnThread;
  using Shape = typename Thread::Shape;
  using Matrices = PointSweepMatrices<T, n, M>;
  struct Gradient {
    T y[M];  // along the thread's line along y; the rest is in shared memory
  };

  /// In shared memory, of a group of cells.
  static constexpr int kValues = Shape::kRow.cells * kBox.cell_step;

  /// @param shared kValues values of the thread's group
  __device__ __forceinline__ PointSweeps(const Matrices& lines, const Thread& thread, T* shared)
      : lines_(lines),
        thread_(thread),
        U_(shared + thread.in_group * kBox.cell_step),
        GX_(U_ + kTensor),
        GZ_(GX_ + kTensor) {}

  /// u along the thread's line of nodes along z -> the gradient at the points.
  __device__ __forceinline__ void gradient(const T (&u)[n], Gradient& g) const {
    // u [n][n][n] -> B along z -> [M][n][n]
    if (thread_.has_nodes) {
      T r[M];
      multiply_even_odd<1>(lines_.B, u, r);
      store_line(U_ + thread_.along_z(kBox), kBox.z_step, r);
    }
    thread_.synchronize();
    // -> B along x -> [M][n][M]
    if (thread_.active && thread_.a < n) {
      replace_line_even_odd<1>(lines_.B, U_ + thread_.along_x(kBox), 1);
    }
    thread_.synchronize();
    // -> B along y -> U [M][M][M]; D along y -> g_y
    if (thread_.active) {
      T f[n];
      T r[M];
      load_line(U_ + thread_.along_y(kBox), kBox.y_step, f);
      multiply_even_odd<1>(lines_.B, f, r);
      multiply_even_odd<-1>(lines_.D, r, g.y);
      store_line(U_ + thread_.along_y(kBox), kBox.y_step, r);
    }
    thread_.synchronize();
    // D along x -> g_x, D along z -> g_z
    if (thread_.active) {
      T r[M];
      T derivative[M];
      load_line(U_ + thread_.along_x(kBox), 1, r);
      multiply_even_odd<-1>(lines_.D, r, derivative);
      store_line(GX_ + thread_.along_x(kBox), 1, derivative);
      load_line(U_ + thread_.along_z(kBox), kBox.z_step, r);
      multiply_even_odd<-1>(lines_.D, r, derivative);
      store_line(GZ_ + thread_.along_z(kBox), kBox.z_step, derivative);
    }
    thread_.synchronize();
  }

  /// g = D g at point q of the thread's line along y.
  __device__ __forceinline__ void multiply(const T (&D)[6], int q, Gradient& g) const {
    const int at = thread_.along_y(kBox) + q * kBox.y_step;
    multiply_symmetric(D, GX_[at], g.y[q], GZ_[at]);
  }

  /// g = diag(D) g at point q of the thread's line along y.
  __device__ __forceinline__ void scale(const T (&D)[3], int q, Gradient& g) const {
    const int at = thread_.along_y(kBox) + q * kBox.y_step;
    GX_[at] *= D[0];
    g.y[q] *= D[1];
    GZ_[at] *= D[2];
  }

  /// The transpose, with the weights of the matrices: v along the thread's line of nodes along z,
  /// where it has_nodes.
  /// @param at_points with AtPoints::values, weight(q) u is tested at the points of the thread's
  ///        line along y as well
  template <class Weight>
  __device__ __forceinline__ void integrate(const Gradient& g, T (&v)[n], AtPoints at_points,
                                            Weight&& weight) const {
    T sum[M];
    multiply_even_odd<-1>(lines_.D_weighted, g.y, sum);
    if (thread_.active && at_points == AtPoints::values) {
#pragma unroll
      for (int q = 0; q < M; ++q) U_[thread_.along_y(kBox) + q * kBox.y_step] *= weight(q);
    }
    thread_.synchronize();
    // D^T along x of f_x and along z of f_z
    if (thread_.active) {
      replace_line_even_odd<-1>(lines_.D_weighted, GX_ + thread_.along_x(kBox), 1);
      replace_line_even_odd<-1>(lines_.D_weighted, GZ_ + thread_.along_z(kBox), kBox.z_step);
    }
    thread_.synchronize();
    // the sum [M][M][M] -> B^T along y -> [M][n][M]
    if (thread_.active) {
      T r[n];
#pragma unroll
      for (int q = 0; q < M; ++q) {
        const int at = thread_.along_y(kBox) + q * kBox.y_step;
        sum[q] += GX_[at] + GZ_[at];
        if (at_points == AtPoints::values) sum[q] += U_[at];
      }
      multiply_even_odd<1>(lines_.B_weighted, sum, r);
      store_line(U_ + thread_.along_y(kBox), kBox.y_step, r);
    }
    thread_.synchronize();
    // -> B^T along x -> [M][n][n]
    if (thread_.active && thread_.a < n) {
      replace_line_even_odd<1>(lines_.B_weighted, U_ + thread_.along_x(kBox), 1);
    }
    thread_.synchronize();
    // -> B^T along z -> v [n][n][n]
    if (thread_.has_nodes) {
      T f[M];
      load_line(U_ + thread_.along_z(kBox), kBox.z_step, f);
      multiply_even_odd<1>(lines_.B_weighted, f, v);
    }
  }

 private:
  const Matrices& lines_;
  const Thread& thread_;
  T* U_;
  T* GX_;
  T* GZ_;
};

}  // namespace tessera
