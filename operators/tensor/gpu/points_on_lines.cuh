// These device functions find the quadrature points of a 3D cell with one thread a line of them.
#pragma once

#include "mesh/element/basis_1d.hpp"
#include "mesh/field/line_values.hpp"
#include "operators/cells/cell_sizes.cuh"
#include "operators/cells/fields/cell_geometry.cuh"
#include "operators/cells/line_kernels.cuh"
#include "operators/tensor/gpu/lines.cuh"
#include "operators/tensor/gpu/tensor_3d.cuh"
#include "operators/tensor/sweeps/even_odd_lines.cuh"
#include "solvers/memory/launch.cuh"

namespace tessera {

/// The depth of programs that run for a line at a time.
inline constexpr int kLineDepth = 4;

/// Values and derivatives at m points of functions of as many nodes, as a kernel parameter.
template <int m>
struct PointMatrices {
  EvenOddLines<double, m, m> B;  // [q][i]
  EvenOddLines<double, m, m> D;  // [q][q]
  double weights[m];

  explicit PointMatrices(const Basis1D& basis)
      : B(even_odd_lines<double, m, m>(basis.B)), D(even_odd_lines<double, m, m>(basis.D)) {
    for (int q = 0; q < m; ++q) weights[q] = basis.quadrature.weights[q];
  }
};

/// Whether there are kernels that find points so.
inline bool has_points_on_lines(int dimension, const Basis1D& basis) {
  return has_line_kernels(dimension, basis) && basis.point_count() <= kMaxFixedPoints;
}

/// Shared memory of a cell whose points are found: two tensors for each coordinate and for u.
template <int m>
constexpr int point_cell_values() {
  return 8 * Box3D<m - 1, m>::size;
}
/// The cells of a block, with m^2 threads each.
template <int m>
constexpr int point_cells() {
  return cells_of_lines(/*threads=*/128, m, point_cell_values<m>() * sizeof(double));
}

/// The points of a cell that a thread has, those with (x, z) = (a, b), and nodal functions there:
/// the coordinates of a mapped cell, less those of its first node, and u.
template <int m>
class PointLine {
 public:
  using Box = Box3D<m - 1, m>;
  static constexpr int kU = 3;

  /// @param tensors of the cell, in shared memory
  __device__ explicit PointLine(double* tensors)
      : a_(static_cast<int>(threadIdx.x) % m),
        b_(static_cast<int>(threadIdx.x) / m),
        tensors_(tensors) {}

  __device__ int a() const { return a_; }
  __device__ int b() const { return b_; }
  /// Of point q in the cell, x fastest.
  __device__ int number(int q) const { return (b_ * m + q) * m + a_; }
  /// Places of the thread's lines in a tensor: along x with (y, z) = (a, b), along y with (x, z),
  /// along z with (x, y).
  __device__ int along_x() const { return b_ * Box::plane + a_ * Box::row; }
  __device__ int along_y() const { return b_ * Box::plane + a_; }
  __device__ int along_z() const { return b_ * Box::row + a_; }
  /// A tensor of a coordinate or kU, from the first or second half. After find() those of the
  /// thread's own points hold derivatives, and are free once these were read.
  __device__ double* first(int f) const { return tensors_ + f * Box::size; }
  __device__ double* second(int f) const { return tensors_ + (4 + f) * Box::size; }

  /// Finds them, by all threads of the block: B along z, x and y, then D along each axis. u may be
  /// null. Begins and ends where no thread needs the tensors' values of before.
  /// @param counts false: the thread has no cell, and only waits
  __device__ void find(const PointMatrices<m>& matrices, const CellGrid& grid,
                       const NodePlaces& nodes, const CellPlace& cell, const double* u,
                       bool counts) {
    const auto has = [&](int f) { return counts && (f == kU ? u != nullptr : nodes.is_mapped); };
    const NodeLine line = line_along_z<m - 1>(grid, cell, a_, b_);
#pragma unroll
    for (int f = 0; f < 4; ++f) {
      if (!has(f)) continue;
      const double* const from = f == kU ? u : nodes.position[f % 3];
      if (f != kU) origin_[f % 3] = from[cell.first_node];
      double in[m];
      double out[m];
#pragma unroll
      for (int i = 0; i < m; ++i) {
        in[i] = from[line.lattice + i * line.stride] - (f == kU ? 0.0 : origin_[f % 3]);
      }
      multiply_even_odd<1>(matrices.B, in, out);
      store_line(first(f) + along_z(), Box::plane, out);
    }
    __syncthreads();
#pragma unroll
    for (int f = 0; f < 4; ++f) {
      if (has(f)) replace_line_even_odd<1>(matrices.B, first(f) + along_x(), 1);
    }
    __syncthreads();
#pragma unroll
    for (int f = 0; f < 4; ++f) {
      if (!has(f)) continue;
      double in[m];
      load_line(first(f) + along_y(), Box::row, in);
      multiply_even_odd<1>(matrices.B, in, value_[f]);
      store_line(first(f) + along_y(), Box::row, value_[f]);
      multiply_even_odd<-1>(matrices.D, value_[f], along_own_[f]);
    }
    __syncthreads();
#pragma unroll
    for (int f = 0; f < 4; ++f) {
      double out[m];
      if (has(f)) {
        double in[m];
        load_line(first(f) + along_z(), Box::plane, in);
        multiply_even_odd<-1>(matrices.D, in, out);
        store_line(second(f) + along_z(), Box::plane, out);
        load_line(first(f) + along_x(), 1, in);
        multiply_even_odd<-1>(matrices.D, in, out);
      }
      __syncthreads();
      if (has(f)) store_line(first(f) + along_x(), 1, out);
    }
    __syncthreads();
  }

  /// Derivatives at point q along the axes of the cell.
  __device__ void derivatives(int f, int q, double (&d)[3]) const {
    const int at = along_y() + q * Box::row;
    d[0] = first(f)[at];
    d[1] = along_own_[f][q];
    d[2] = second(f)[at];
  }

  /// Coordinate d of all points.
  __device__ LineValues<m> coordinate(const CellGrid& grid, const PointPlaces& points,
                                      const CellPlace& cell, int d) const {
    LineValues<m> x;
#pragma unroll
    for (int q = 0; q < m; ++q) {
      x.v[q] = points.nodes.is_mapped ? value_[d][q] + origin_[d]
                                      : point_on_axis(grid, points, cell, d, along(d, q));
    }
    return x;
  }
  __device__ LineValues<m> u() const {
    LineValues<m> values;
#pragma unroll
    for (int q = 0; q < m; ++q) values.v[q] = value_[kU][q];
    return values;
  }
  /// The quadrature weight of point q.
  __device__ double weight(const PointMatrices<m>& matrices, const PointPlaces& points,
                           int q) const {
    return points.weights[a_] * points.weights[b_] * matrices.weights[q];
  }
  __device__ SmallMatrix jacobian(int q) const {
    SmallMatrix J;
#pragma unroll
    for (int d = 0; d < 3; ++d) derivatives(d, q, J.at[d]);
    return J;
  }
  /// w |J| at point q.
  __device__ double measure(const PointMatrices<m>& matrices, const PointPlaces& points,
                            const CellPlace& cell, int q) const {
    double measure = weight(matrices, points, q);
    if (points.nodes.is_mapped) return measure * determinant(jacobian(q), 3);
#pragma unroll
    for (int d = 0; d < 3; ++d) measure *= points.width[d][cell.position[d]];
    return measure;
  }
  /// Point q without its coordinates.
  __device__ PointOfCell point(const PointMatrices<m>& matrices, const PointPlaces& points,
                               const CellPlace& cell, int q) const {
    PointOfCell point{};
    point.weight = measure(matrices, points, cell, q);
    if (points.nodes.is_mapped) {
      const SmallMatrix J = jacobian(q);
      point.inverse = inverse_of(J, 3, determinant(J, 3));
      return point;
    }
#pragma unroll
    for (int d = 0; d < 3; ++d) point.inverse.at[d][d] = 1.0 / points.width[d][cell.position[d]];
    return point;
  }

  /// y_i += v_i on the thread's line of nodes along z.
  __device__ void add(const CellGrid& grid, const CellPlace& cell, const double (&v)[m],
                      double* y) const {
    const NodeLine nodes = line_along_z<m - 1>(grid, cell, a_, b_);
    double* const to = y + nodes.lattice;
    double before[m];
#pragma unroll
    for (int i = 0; i < m; ++i) before[i] = to[i * nodes.stride];
#pragma unroll
    for (int i = 0; i < m; ++i) to[i * nodes.stride] = before[i] + v[i];
  }

 private:
  __device__ int along(int d, int q) const { return d == 0 ? a_ : d == 1 ? q : b_; }

  int a_;
  int b_;
  double* tensors_;
  double value_[4][m];
  double along_own_[4][m];
  double origin_[3] = {};
};

/// A launch over so many cells, with room for their points.
template <int m>
Launch launch_on_lines(const char* name, Index cells) {
  constexpr int kCells = point_cells<m>();
  constexpr std::size_t kBytes = kCells * point_cell_values<m>() * sizeof(double);
  static_assert(kBytes <= kSharedScratchBytes);
  return {name, blocks_for(cells, kCells), dim3(m * m, kCells), kBytes};
}

/// A thread of a block of (m^2, point_cells()) threads and its cell.
template <int m>
struct PointThread {
  Index number;  // of the cell in its range
  bool counts;   // whether there is one
  CellPlace cell;

  /// @param first, end numbers of the cells that the launch has
  __device__ PointThread(const CellGrid& grid, const CellRange& range, Index first, Index end)
      : number(first + static_cast<Index>(blockIdx.x) * point_cells<m>() + threadIdx.y),
        counts(number < end),
        cell(place_cell(grid, range, counts ? number : first)) {}
  /// Of all cells of the range.
  __device__ PointThread(const CellGrid& grid, const CellRange& range)
      : PointThread(grid, range, 0, range.size()) {}
};

}  // namespace tessera
