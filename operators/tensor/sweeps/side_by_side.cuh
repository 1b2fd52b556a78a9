// SideBySideSweeps apply a 3D cell with one thread per line, by values and derivatives side by
// side.
#pragma once

#include "operators/tensor/sweeps/line_thread.cuh"
#include "operators/tensor/sweeps/tested_line.cuh"

namespace tessera {

/// The gradient of the reference cell, or what is tested with it, at the points of a thread's line
/// along y.
template <int M, class T>
struct LineGradient {
  T x[M];
  T y[M];
  T z[M];
};

/// u -> gradient at the points -> v of a cell by 16 products a line, 20 tensors of M^3 values that
/// are written to or read from shared memory, by 12 instructions a point, and four waits: u
/// interpolated only, and u differentiated along z (a pair) or x, go from line to line side by
/// side, and the whole gradient comes to be in the registers of the line along y.
///
/// @tparam OwnThread LineThread: whose launch, whose places in shared memory
template <class T, int P, int M, class OwnThread>
class SideBySideSweeps {
  static constexpr int n = P + 1;
  static constexpr LineStrides kPairs = OwnThread::kPairs;
  static constexpr LineStrides kSingles = kDoubleValues[M - 2];
  static constexpr int kCells = OwnThread::Shape::kRow.cells;
  using Nodes = LineFold<T, n>;
  using Points = LineFold<T, M>;

 public:
  using Thread = OwnThread;
  using Shape = typename Thread::Shape;
  using Matrices = SideBySideMatrices<T, n, M>;
  using Gradient = LineGradient<M, T>;
  /// In shared memory, of a group of cells.
  static constexpr int kValues =
      2 * kCells * kPairs.cell_step + (kCells * kSingles.cell_step + 1) / 2 * 2;

  /// @param shared kValues values of the thread's group, aligned as a pair of double
  __device__ __forceinline__ SideBySideSweeps(const Matrices& lines, const Thread& thread,
                                              T* shared)
      : lines_(lines),
        thread_(thread),
        pairs_(reinterpret_cast<ValuePair<T>*>(shared) + thread.in_group * kPairs.cell_step),
        along_x_(shared + 2 * kCells * kPairs.cell_step + thread.in_group * kSingles.cell_step) {}

  /// u along the thread's line of nodes along z -> g.
  __device__ __forceinline__ void gradient(const T (&u)[n], Gradient& g) const {
    // u [n][n][n] -> B and G along z -> pairs [M][n][n]
    if (thread_.has_nodes) {
      store_products<-1>(lines_.B, lines_.G, u, pairs_ + thread_.along_z(kPairs), kPairs.z_step);
    }
    thread_.synchronize();
    // -> B along x of the pairs, G of their values -> pairs, along_x [M][n][M]
    if (thread_.active && thread_.a < n) {
      T u_line[n];
      T z_line[n];
      T r[M];
      T z[M];
      load_pairs(pairs_ + thread_.along_x(kPairs), 1, u_line, z_line);
      const Nodes line(u_line);
      multiply_even_odd<-1>(lines_.G, line, r);
      store_line(along_x_ + thread_.along_x(kSingles), 1, r);
      multiply_even_odd<1>(lines_.B, line, r);
      multiply_even_odd<1>(lines_.B, z_line, z);
      store_pairs(pairs_ + thread_.along_x(kPairs), 1, r, z);
    }
    thread_.synchronize();
    // -> G along y of the values, B of the derivatives -> g [M][M][M]
    if (thread_.active) {
      T line[n];
      T z_line[n];
      load_pairs(pairs_ + thread_.along_y(kPairs), kPairs.y_step, line, z_line);
      multiply_even_odd<-1>(lines_.G, line, g.y);
      multiply_even_odd<1>(lines_.B, z_line, g.z);
      load_line(along_x_ + thread_.along_y(kSingles), kSingles.y_step, line);
      multiply_even_odd<1>(lines_.B, line, g.x);
    }
  }

  /// g = D g at point q of the thread's line along y.
  __device__ __forceinline__ void multiply(const T (&D)[6], int q, Gradient& g) const {
    multiply_symmetric(D, g.x[q], g.y[q], g.z[q]);
  }

  /// g = diag(D) g at point q of the thread's line along y.
  __device__ __forceinline__ void scale(const T (&D)[3], int q, Gradient& g) const {
    g.x[q] *= D[0];
    g.y[q] *= D[1];
    g.z[q] *= D[2];
  }

  /// A number in shared memory for point q of the thread's line along y, to keep between gradient()
  /// and integrate().
  __device__ __forceinline__ T& kept(int q) const {
    return along_x_[thread_.along_y(kSingles) + q * kSingles.y_step];
  }

  /// The transpose, with the weights of the matrices: v along the thread's line of nodes along z,
  /// where it has_nodes.
  /// @param at_points with AtPoints::values, weight(q) u is tested at the points of the thread's
  ///        line along y as well, u of the last gradient()
  template <class Weight>
  __device__ __forceinline__ void integrate(const Gradient& g, T (&v)[n], AtPoints at_points,
                                            Weight&& weight) const {
    // G^T along y of f_y, B^T of f_x and f_z -> pairs, along_x [M][n][M]
    if (thread_.active) {
      constexpr int kStep = kPairs.y_step;
      ValuePair<T>* const line = pairs_ + thread_.along_y(kPairs);
      T r[n];
      T z[n];
      test_line(lines_, g.y, line, kStep, at_points, weight, r);
      multiply_even_odd<1>(lines_.B_weighted, g.z, z);
      store_pairs(line, kStep, r, z);
      multiply_even_odd<1>(lines_.B_weighted, g.x, r);
      store_line(along_x_ + thread_.along_y(kSingles), kSingles.y_step, r);
    }
    thread_.synchronize();
    // -> B^T along x of the pairs, G^T of along_x added to the first -> pairs [M][n][n]
    if (thread_.active && thread_.a < n) {
      T u_line[M];
      T z_line[M];
      T x_line[M];
      T r[n];
      T z[n];
      load_pairs(pairs_ + thread_.along_x(kPairs), 1, u_line, z_line);
      load_line(along_x_ + thread_.along_x(kSingles), 1, x_line);
      add_even_odd<-1>(lines_.B_weighted, Points(u_line), lines_.G_weighted, Points(x_line), r);
      multiply_even_odd<1>(lines_.B_weighted, z_line, z);
      store_pairs(pairs_ + thread_.along_x(kPairs), 1, r, z);
    }
    thread_.synchronize();
    // -> B^T and G^T along z, added -> v [n][n][n]
    if (thread_.has_nodes) {
      load_sum_of_products<-1>(lines_.B_weighted, lines_.G_weighted,
                               pairs_ + thread_.along_z(kPairs), kPairs.z_step, v);
    }
  }

 private:
  const Matrices& lines_;
  const Thread& thread_;
  ValuePair<T>* pairs_;
  T* along_x_;
};

}  // namespace tessera
