// These kernels make and add a drift in 3D with one thread a line of a cell.
#pragma once

#include "operators/cells/cell_access.cuh"
#include "operators/cells/fields/cell_integrals.cuh"
#include "operators/cells/line_kernels.cuh"
#include "operators/nonlinear/drift_lines.hpp"
#include "operators/tensor/gpu/field_in_kernel.cuh"
#include "operators/tensor/gpu/lines.cuh"
#include "operators/tensor/gpu/points_on_lines.cuh"
#include "operators/tensor/gpu/tensor_3d.cuh"
#include "operators/tensor/sweeps/even_odd_lines.cuh"

namespace tessera {

/// Values and derivatives at m points of functions of as many nodes, and the transposes, split for
/// even-odd.
template <int m>
struct DriftMatrices {
  EvenOddLines<double, m, m> B;
  EvenOddLines<double, m, m> B_transposed;
  EvenOddLines<double, m, m> D_transposed;
};

/// The cells of a launch and what they are multiplied by.
struct DriftLines {
  CellGrid grid;
  CellRange range;  // of cells that share no node
  const double* g;  // [cell][axis][q]
  const double* v;
  double* y;
};

/// Values of shared memory of a cell, and the cells of a block.
template <int m>
constexpr int drift_cell_values() {
  return 3 * Box3D<m - 1, m>::size;
}
template <int m>
constexpr int drift_cells() {
  return cells_of_lines(/*threads=*/160, m, drift_cell_values<m>() * sizeof(double));
}

/// y_i += sum_q (g_q v_q) . grad phi_i where row i is not constrained; v counts as 0 where it is.
///
/// Launch: (m^2, drift_cells()) threads; thread (a, b) of a cell has lines (x, y) = (a, b) along z,
/// (y, z) along x and (x, z) along y. Shared memory: three tensors of m^3 values a cell. Six
/// barriers. Bytes a DoF: v once, y read and written, and three values a point, m^3 / p^3 points.
/// Flops: about 9 m a point. Deterministic.
template <int m>
__global__ void __launch_bounds__(m* m* drift_cells<m>())
    drift_lines_kernel(const __grid_constant__ DriftLines args,
                       const __grid_constant__ DriftMatrices<m> lines) {
  using Box = Box3D<m - 1, m>;
  constexpr int P = m - 1;
  extern __shared__ __align__(16) double drift_tensors[];
  double* const U = drift_tensors + threadIdx.y * drift_cell_values<m>();
  double* const GX = U + Box::size;
  double* const GZ = GX + Box::size;
  const int a = static_cast<int>(threadIdx.x) % m;
  const int b = static_cast<int>(threadIdx.x) / m;
  const int along_x = b * Box::plane + a * Box::row;  // line (y, z) = (a, b)
  const int along_y = b * Box::plane + a;             // line (x, z) = (a, b)
  const int along_z = b * Box::row + a;               // line (x, y) = (a, b)
  const Index number = static_cast<Index>(blockIdx.x) * drift_cells<m>() + threadIdx.y;
  const bool is_active = number < args.range.size();
  const CellPlace cell = place_cell(args.grid, args.range, is_active ? number : 0);
  const NodeLine nodes = line_along_z<P>(args.grid, cell, a, b);

  // g of the line along y is on its way from the start.
  double g[3][m];
  if (is_active) {
    const double* from =
        args.g + cell_number(args.grid, cell.position) * (3 * m * m * m) + b * m * m + a;
#pragma unroll
    for (int d = 0; d < 3; ++d, from += m * m * m) {
#pragma unroll
      for (int q = 0; q < m; ++q) g[d][q] = __ldcs(from + q * m);
    }
    // v -> B along z
    double v[m];
    double r[m];
    gather_line(CellSource<double>{args.v}, cell, nodes, v);
    multiply_even_odd<1>(lines.B, v, r);
    store_line(U + along_z, Box::plane, r);
  }
  __syncthreads();
  // -> B along x
  if (is_active) replace_line_even_odd<1>(lines.B, U + along_x, 1);
  __syncthreads();
  // -> B along y, g v; D^T along y
  double sum[m];
  if (is_active) {
    double r[m];
    load_line(U + along_y, Box::row, sum);
    multiply_even_odd<1>(lines.B, sum, r);
#pragma unroll
    for (int q = 0; q < m; ++q) {
      GX[along_y + q * Box::row] = g[0][q] * r[q];
      GZ[along_y + q * Box::row] = g[2][q] * r[q];
      r[q] *= g[1][q];
    }
    multiply_even_odd<-1>(lines.D_transposed, r, sum);
  }
  __syncthreads();
  // D^T along x and along z
  if (is_active) {
    replace_line_even_odd<-1>(lines.D_transposed, GX + along_x, 1);
    replace_line_even_odd<-1>(lines.D_transposed, GZ + along_z, Box::plane);
  }
  __syncthreads();
  // the sum -> B^T along y
  if (is_active) {
    double r[m];
#pragma unroll
    for (int q = 0; q < m; ++q) {
      sum[q] += GX[along_y + q * Box::row] + GZ[along_y + q * Box::row];
    }
    multiply_even_odd<1>(lines.B_transposed, sum, r);
    store_line(U + along_y, Box::row, r);
  }
  __syncthreads();
  // -> B^T along x
  if (is_active) replace_line_even_odd<1>(lines.B_transposed, U + along_x, 1);
  __syncthreads();
  // -> B^T along z
  if (!is_active) return;
  double f[m];
  double v[m];
  load_line(U + along_z, Box::plane, f);
  multiply_even_odd<1>(lines.B_transposed, f, v);
  double* const y = args.y + nodes.lattice;
#pragma unroll
  for (int i = 0; i < m; ++i) f[i] = y[i * nodes.stride];
#pragma unroll
  for (int i = 0; i < m; ++i) {
    const unsigned faces = nodes.faces | face_mask(2, i, P);
    if ((cell.fixed & faces) == 0U) y[i * nodes.stride] = f[i] + v[i];
  }
}

/// g [cell][axis][q] of all cells: dk/du J^-1 J^-T grad_xi u, weights included.
///
/// Launch: (m^2, point_cells()) threads, thread (a, b) of a cell with lines as PointLine has.
/// Shared memory: point_cell_values() a cell. Bytes a point: three values, and u and coordinates
/// once. Deterministic.
template <int m>
__global__ void __launch_bounds__(m* m* point_cells<m>(), m > 4 ? 3 : 4)
    make_drift_lines_kernel(const __grid_constant__ DriftMaking args, const CellRange all,
                            const __grid_constant__ PointMatrices<m> matrices) {
  using Line = PointLine<m>;
  extern __shared__ __align__(16) double drift_points[];
  Line line(drift_points + threadIdx.y * point_cell_values<m>());
  const PointThread<m> thread(args.grid, all);
  const CellPlace& cell = thread.cell;
  line.find(matrices, args.grid, args.points.nodes, cell, args.u, thread.counts);
  if (!thread.counts) return;
  LineValues<m> derivative;
  {
    const LineValues<m> x[3] = {line.coordinate(args.grid, args.points, cell, 0),
                                line.coordinate(args.grid, args.points, cell, 1),
                                line.coordinate(args.grid, args.points, cell, 2)};
    derivative = value_at<TermsAre::derivatives, kLineDepth>(args.derivative.field, x, line.u());
  }
#pragma unroll
  for (int q = 0; q < m; ++q) {
    const int in_cell = line.number(q);
    check_in_kernel(args.derivative, derivative.v[q], thread.number * (m * m * m) + in_cell);
    const PointOfCell point = line.point(matrices, args.points, cell, q);
    double gradient[3];
    line.derivatives(Line::kU, q, gradient);
    double flux[3];
    make_flux(point, point.weight * derivative.v[q], 3, gradient, flux);
    double* const to = args.g + thread.number * (3 * m * m * m) + in_cell;
#pragma unroll
    for (int d = 0; d < 3; ++d) to[d * m * m * m] = flux[d];
  }
}

}  // namespace tessera
