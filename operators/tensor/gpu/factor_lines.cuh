// This kernel computes geometric factors in 3D with one thread a line of a cell.
#pragma once

#include "operators/tensor/gpu/factor_kernels.cuh"
#include "operators/tensor/gpu/points_on_lines.cuh"

namespace tessera {

/// D_q and r_q of mapped cells as general_factors_kernel() makes them.
///
/// Launch: (m^2, point_cells()) threads, thread (a, b) of a cell with lines as PointLine has.
/// Shared memory: point_cell_values() a cell. Bytes a point: the factors, 48 or 24, and three
/// coordinates, with a field of u also that, once. Flops: some 30 m a point, and the fields'.
/// Deterministic.
template <int m, FieldsAre fields>
__global__ void __launch_bounds__(m* m* point_cells<m>(), m > 4 ? 3 : 4)
    factor_lines_kernel(const __grid_constant__ GeometryArguments g,
                        const __grid_constant__ PointMatrices<m> matrices, Index stride,
                        RoundedValues factors, RoundedValues reaction, Index* inverted) {
  using Line = PointLine<m>;
  constexpr int kSize = m * m * m;
  extern __shared__ __align__(16) double factor_tensors[];
  Line line(factor_tensors + threadIdx.y * point_cell_values<m>());
  const CellRange all{{0, 0, 0}, {g.grid.cells[0], g.grid.cells[1], g.grid.cells[2]}, 1};
  const PointThread<m> thread(g.grid, all, g.first_cell, g.first_cell + g.count);
  const CellPlace& cell = thread.cell;
  line.find(matrices, g.grid, g.points.nodes, cell, g.state, thread.counts);
  if (!thread.counts) return;
  const Index in_chunk = thread.number - g.first_cell;
  LineValues<m> k;
  LineValues<m> c;
#pragma unroll
  for (int q = 0; q < m; ++q) {
    const PointCoefficients here = coefficients_at(g, in_chunk * kSize + line.number(q));
    k.v[q] = here.k;
    c.v[q] = here.c;
  }
  if constexpr (fields != FieldsAre::given) {
    constexpr TermsAre kTerms = fields == FieldsAre::values ? TermsAre::values : TermsAre::any;
    const LineValues<m> x[3] = {line.coordinate(g.grid, g.points, cell, 0),
                                line.coordinate(g.grid, g.points, cell, 1),
                                line.coordinate(g.grid, g.points, cell, 2)};
    const LineValues<m> u = g.state != nullptr ? line.u() : LineValues<m>(kUnknownU);
    // One after the other, so that the interpreter is compiled once.
#pragma unroll 1
    for (int f = 0; f < 2; ++f) {
      const FieldInKernel& field = g.fields[f].in_kernel;
      if (field.field.count == 0) continue;
      const LineValues<m> value = value_at<kTerms, kLineDepth>(field.field, x, u);
#pragma unroll
      for (int q = 0; q < m; ++q) {
        check_in_kernel(field, value.v[q], thread.number * kSize + line.number(q));
        k.v[q] = f == 0 ? value.v[q] : k.v[q];
        c.v[q] = f == 1 ? value.v[q] : c.v[q];
      }
    }
  }
#pragma unroll
  for (int q = 0; q < m; ++q) {
    const SmallMatrix J = line.jacobian(q);
    const double of_point = determinant(J, 3);
    if (!(of_point > 0.0)) report_inverted(thread.number, inverted);
    const double weight = line.weight(matrices, g.points, q);
    if (is_there(reaction)) {
      set(reaction, in_chunk * kSize + line.number(q), weight * of_point * c.v[q]);
    }
    if (!is_there(factors)) continue;
    double entries[6];
    symmetric_entries_3d(J, weight * k.v[q] / of_point, entries);
    // As general_factor_offset() says.
    const Index at = in_chunk * stride + ((line.b() * 3 * m + q) * m + line.a()) * 2;
#pragma unroll
    for (int pair = 0; pair < 3; ++pair) {
      set_two(factors, at + pair * m * m * 2, entries[2 * pair], entries[2 * pair + 1]);
    }
  }
}

}  // namespace tessera
