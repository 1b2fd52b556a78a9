#pragma once

#include <array>

#include "operators/tensor_cell_3d.hpp"

namespace tessera {

/// D_q = w_q k |J| J^-1 J^-T of a batch of mapped 3D cells, computed from their node positions: a
/// functor for apply_gradient_3d().
///
/// With a = dX/dxi, b = dX/deta, c = dX/dzeta at a point, J^-1 has the rows b x c, c x a, a x b,
/// each over |J| = a . (b x c). So D_q g = w k / |J| R (R^T g) with R of these rows: no D_q is
/// formed. The positions come to the points as u does (6 m^3 values), and are differentiated along
/// x and y where a plane or a line of points is worked on.
template <class T, int N, int M>
class MappedCells3d {
 public:
  static constexpr int kPlane = M * M;
  static constexpr int kVolume = M * kPlane;
  /// Entries of the memory that the constructor takes.
  static constexpr int kScratch = 6 * kVolume + 3 * kPlane;

  /// @param positions X, Y, Z at the nodes, [3][n][n][n]
  /// @param scale w_q k at point q of all cells, as a function of q
  template <Points points>
  MappedCells3d(const EvenOddMatrix<T>& B, const EvenOddMatrix<T>& G, const EvenOddMatrix<T>& D,
                const Lanes<T>* positions, Lanes<T>* scratch,
                std::integral_constant<Points, points>)
      : D_(D), values_(scratch), slopes_(values_ + 3 * kVolume), plane_(slopes_ + 3 * kVolume) {
    const LineMatrix<T, M, N> B_line(B);
    const LineMatrix<T, M, N> G_line(G);
    NothingAhead nothing;
    for (int x = 0; x < 3; ++x) {
      to_points_3d<points>(B_line, G_line, positions + x * N * N * N, values_ + x * kVolume,
                           slopes_ + x * kVolume, nothing);
    }
  }

  /// (gx, gy, gz) = D_q (gx, gy, gz) at M points of an x line; lines in order.
  template <class Scale>
  [[gnu::always_inline]] void multiply(int first, const Scale& scale, Lanes<T>* gx, Lanes<T>* gy,
                                       Lanes<T>* gz) {
    if (first % kPlane == 0) differentiate_plane(first);
    Lanes<T> along_x[3][M];
    for (int x = 0; x < 3; ++x) {
      FoldedLine<T, M> out;
      add_product<Parity::odd>(D_, fold<T, M>(values_ + x * kVolume + first, 1), out);
      unfold(out, along_x[x], 1);
    }
    const Lanes<T>* along_y = plane_ + first % kPlane;
    const Lanes<T>* along_z = slopes_ + first;
    for (int q = 0; q < M; ++q) {
      const Vector a{along_x[0][q], along_x[1][q], along_x[2][q]};
      const Vector b{along_y[q], along_y[kPlane + q], along_y[2 * kPlane + q]};
      const Vector c{along_z[q], along_z[kVolume + q], along_z[2 * kVolume + q]};
      const Vector rows[3] = {cross(b, c), cross(c, a), cross(a, b)};
      const Lanes<T> s = scale(first + q) / dot(a, rows[0]);
      Vector flux;
      for (int x = 0; x < 3; ++x) {
        flux[x] = s * (rows[0][x] * gx[q] + rows[1][x] * gy[q] + rows[2][x] * gz[q]);
      }
      gx[q] = dot(rows[0], flux);
      gy[q] = dot(rows[1], flux);
      gz[q] = dot(rows[2], flux);
    }
  }

 private:
  using Vector = std::array<Lanes<T>, 3>;

  static Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  }
  static Lanes<T> dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }

  void differentiate_plane(int first) {
    for (int x = 0; x < 3; ++x) {
      for (int i = 0; i < M; ++i) {
        FoldedLine<T, M> out;
        add_product<Parity::odd>(D_, fold<T, M>(values_ + x * kVolume + first + i, M), out);
        unfold(out, plane_ + x * kPlane + i, M);
      }
    }
  }

  LineMatrix<T, M, M> D_;
  Lanes<T>* values_;  // X at the points, [3][m][m][m]
  Lanes<T>* slopes_;  // dX/dzeta, [3][m][m][m]
  Lanes<T>* plane_;   // dX/deta of the plane at work, [3][m][m]
};

}  // namespace tessera
