// This kernel sums up a residual in 3D with one thread a line of a cell.
#pragma once

#include "operators/cells/fields/cell_integrals.cuh"
#include "operators/cells/fields/device_field.cuh"
#include "operators/tensor/gpu/points_on_lines.cuh"

namespace tessera {

/// The transposes of B and D, [i][q].
template <int m>
struct ResidualMatrices {
  PointMatrices<m> at_points;
  EvenOddLines<double, m, m> B_transposed;
  EvenOddLines<double, m, m> D_transposed;
};

/// The cells of a launch and what is integrated over them.
struct ResidualLines {
  CellGrid grid;
  CellRange range;  // of cells that share no node
  PointPlaces points;
  DeviceFieldView fields[3];  // k, c, f
  const double* u;
  double* r;
  int* are_allowed;  // becomes 0 where a field has a value that it must not have
};

/// r_i += (k(u) grad u, grad phi_i) + (c u - f(u), phi_i), constrained rows as all others.
///
/// Launch: (m^2, point_cells()) threads, thread (a, b) of a cell with lines as PointLine has.
/// Shared memory: point_cell_values() a cell. Bytes a DoF: u and three coordinates once, r read and
/// written. Flops: some 40 m a point, and the fields'. Deterministic.
template <int m>
__global__ void __launch_bounds__(m* m* point_cells<m>(), m > 4 ? 3 : 4)
    residual_lines_kernel(const __grid_constant__ ResidualLines args,
                          const __grid_constant__ ResidualMatrices<m> matrices) {
  using Line = PointLine<m>;
  using Box = typename Line::Box;
  constexpr int kU = Line::kU;
  extern __shared__ __align__(16) double residual_tensors[];
  Line line(residual_tensors + threadIdx.y * point_cell_values<m>());
  const PointThread<m> thread(args.grid, args.range);
  const CellPlace& cell = thread.cell;
  line.find(matrices.at_points, args.grid, args.points.nodes, cell, args.u, thread.counts);

  double sum[m];
  double* const U = line.first(0);
  double* const GX = line.first(kU);
  double* const GZ = line.second(kU);
  if (thread.counts) {
    LineValues<m> k;
    LineValues<m> of_u;  // c u - f
    {
      const LineValues<m> x[3] = {line.coordinate(args.grid, args.points, cell, 0),
                                  line.coordinate(args.grid, args.points, cell, 1),
                                  line.coordinate(args.grid, args.points, cell, 2)};
      const LineValues<m> u = line.u();
      constexpr Allowed kAllowed[] = {Allowed::positive, Allowed::non_negative, Allowed::finite};
      // One after the other, so that the interpreter is compiled once.
#pragma unroll 1
      for (int f = 0; f < 3; ++f) {
        const LineValues<m> value = value_at<TermsAre::values, kLineDepth>(args.fields[f], x, u);
#pragma unroll
        for (int q = 0; q < m; ++q) {
          const Allowed allowed = f == 0 ? kAllowed[0] : f == 1 ? kAllowed[1] : kAllowed[2];
          if (!is_allowed(value.v[q], allowed)) *args.are_allowed = 0;
          if (f == 0) {
            k.v[q] = value.v[q];
          } else {
            of_u.v[q] = f == 1 ? value.v[q] * u.v[q] : of_u.v[q] - value.v[q];
          }
        }
      }
    }
    double along_y[m];
#pragma unroll
    for (int q = 0; q < m; ++q) {
      const PointOfCell point = line.point(matrices.at_points, args.points, cell, q);
      double gradient[3];
      line.derivatives(kU, q, gradient);
      double flux[3];
      make_flux(point, point.weight * k.v[q], 3, gradient, flux);
      const int at = line.along_y() + q * Box::row;
      GX[at] = flux[0];
      along_y[q] = flux[1];
      GZ[at] = flux[2];
      of_u.v[q] *= point.weight;
    }
    multiply_even_odd<-1>(matrices.D_transposed, along_y, sum);
#pragma unroll
    for (int q = 0; q < m; ++q) sum[q] += of_u.v[q];
  }
  __syncthreads();
  // D^T along x and along z.
  if (thread.counts) {
    replace_line_even_odd<-1>(matrices.D_transposed, GX + line.along_x(), 1);
    replace_line_even_odd<-1>(matrices.D_transposed, GZ + line.along_z(), Box::plane);
  }
  __syncthreads();
  // The sum, B^T along y.
  if (thread.counts) {
#pragma unroll
    for (int q = 0; q < m; ++q) {
      const int at = line.along_y() + q * Box::row;
      sum[q] += GX[at] + GZ[at];
    }
    double out[m];
    multiply_even_odd<1>(matrices.B_transposed, sum, out);
    store_line(U + line.along_y(), Box::row, out);
  }
  __syncthreads();
  // Along x.
  if (thread.counts) {
    replace_line_even_odd<1>(matrices.B_transposed, U + line.along_x(), 1);
  }
  __syncthreads();
  // Along z.
  if (!thread.counts) return;
  double in[m];
  double out[m];
  load_line(U + line.along_z(), Box::plane, in);
  multiply_even_odd<1>(matrices.B_transposed, in, out);
  line.add(args.grid, cell, out, args.r);
}

}  // namespace tessera
