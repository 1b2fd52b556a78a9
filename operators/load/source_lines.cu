// These kernels integrate a source in 3D with one thread a line of a cell.
#include "mesh/with_constant.hpp"
#include "operators/cells/fields/device_field.cuh"
#include "operators/load/source_lines.hpp"
#include "operators/tensor/gpu/points_on_lines.cuh"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

struct SourceLines {
  CellGrid grid;
  CellRange range;  // of cells that share no node
  PointPlaces points;
  DeviceFieldView source;
  double* b;
  int* is_finite;  // becomes 0 where f is not
};

// b_i += (f, phi_i).
//
// Launch: (m^2, point_cells()) threads, thread (a, b) of a cell with lines as PointLine has. Shared
// memory: point_cell_values() a cell. Bytes a DoF: three coordinates once, b read and written.
// Flops: some 30 m a point, and the source's. Deterministic.
template <int m>
__global__ void __launch_bounds__(m* m* point_cells<m>(), m > 4 ? 3 : 4)
    source_lines_kernel(const __grid_constant__ SourceLines args,
                        const __grid_constant__ PointMatrices<m> matrices,
                        const __grid_constant__ EvenOddLines<double, m, m> B_transposed) {
  using Line = PointLine<m>;
  using Box = typename Line::Box;
  extern __shared__ __align__(16) double source_tensors[];
  Line line(source_tensors + threadIdx.y * point_cell_values<m>());
  const PointThread<m> thread(args.grid, args.range);
  const CellPlace& cell = thread.cell;
  line.find(matrices, args.grid, args.points.nodes, cell, nullptr, thread.counts);
  double* const U = line.first(Line::kU);
  if (thread.counts) {
    const LineValues<m> x[3] = {line.coordinate(args.grid, args.points, cell, 0),
                                line.coordinate(args.grid, args.points, cell, 1),
                                line.coordinate(args.grid, args.points, cell, 2)};
    LineValues<m> f =
        value_at<TermsAre::values, kLineDepth>(args.source, x, LineValues<m>(kUnknownU));
#pragma unroll
    for (int q = 0; q < m; ++q) {
      if (!isfinite(f.v[q])) *args.is_finite = 0;
      f.v[q] *= line.measure(matrices, args.points, cell, q);
    }
    double out[m];
    multiply_even_odd<1>(B_transposed, f.v, out);
    store_line(U + line.along_y(), Box::row, out);
  }
  __syncthreads();
  if (thread.counts) replace_line_even_odd<1>(B_transposed, U + line.along_x(), 1);
  __syncthreads();
  if (!thread.counts) return;
  double in[m];
  double out[m];
  load_line(U + line.along_z(), Box::plane, in);
  multiply_even_odd<1>(B_transposed, in, out);
  line.add(args.grid, cell, out, args.b);
}

}  // namespace

bool has_source_by_lines(int dimension, const Basis1D& basis, const DeviceField& source) {
  const DeviceFieldView view = source.view();
  return has_points_on_lines(dimension, basis) && view.depth <= kLineDepth &&
         are_all(view, TermsAre::values);
}

bool add_source_by_lines(const Basis1D& basis, const PointPlaces& points, const CellGrid& grid,
                         const DeviceField& source, const std::vector<CellRange>& ranges,
                         DeviceVector<double>& b) {
  DeviceArray<int> is_finite(std::vector<int>{1});
  SourceLines arguments{grid, {}, points, source.view(), b.data(), is_finite.data()};
  with_constant<2, kMaxFixedPoints>(basis.point_count(), [&]<int m>() {
    const PointMatrices<m> matrices(basis);
    const auto B_transposed = even_odd_transposed<double, m, m>(basis.B, [](int) { return 1.0; });
    for (const CellRange& range : ranges) {
      arguments.range = range;
      launch(source_lines_kernel<m>, launch_on_lines<m>("the load", range.size()), arguments,
             matrices, B_transposed);
    }
  });
  return to_host(is_finite).front() == 1;
}

}  // namespace tessera
