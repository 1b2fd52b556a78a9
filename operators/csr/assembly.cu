// This file assembles the matrix on the GPU.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "mesh/geometry/factor_kind.hpp"
#include "operators/csr/assembly_kernels.cuh"
#include "operators/csr/device_csr.hpp"
#include "operators/form/robin_faces.hpp"
#include "solvers/errors.hpp"
#include "solvers/memory/running_sum.cuh"

namespace tessera {
namespace {

// Makes the matrix.
template <class T>
class Assembly {
 public:
  Assembly(const BilinearForm& form, const DeviceCellKernel<T>& kernel, Index nonzeros)
      : pattern_(make_pattern(form)),
        rows_{DeviceArray<Index>(pattern_.grid.nodes.size() + 1),
              DeviceArray<std::int32_t>(nonzeros), DeviceArray<T>(nonzeros)} {
    fill_rows();
    const Discretization& discretization = *form.discretization;
    if (factor_kind(discretization.mapping, form.coefficient, form.reaction) ==
        FactorKind::constant) {
      add_equal_cells(kernel, discretization.lattice.nodes_per_cell());
    } else {
      add_cells(kernel, discretization);
    }
    for (const WeightedFace& face : make_weighted_faces(form)) add_face(face);
  }

  DeviceSparseRows<T> take_rows() { return std::move(rows_); }

 private:
  Index size() const { return pattern_.grid.nodes.size(); }

  void fill_rows() {
    launch(count_rows_kernel, launch_of("counting the matrix' rows", size() + 1), pattern_,
           rows_.starts.data());
    sum_preceding(rows_.starts);
    launch(fill_rows_kernel<T>, launch_of("filling the matrix' rows", size() * kWarp), pattern_,
           rows_.starts.data(), rows_.columns.data(), rows_.values.data());
  }

  void add(const CellRange& range, const T* matrices, int nodes, Index matrix_stride) {
    const Index entries = range.size() * power(nodes, 2);
    launch(add_cells_kernel<T>, launch_of("adding local matrices", entries), pattern_, range,
           matrices, matrix_stride, rows_.starts.data(), rows_.values.data());
  }

  void add_equal_cells(const DeviceCellKernel<T>& kernel, int nodes) {
    DeviceArray<T> matrix(power(nodes, 2));
    find_local_matrices(kernel, {{0, 0, 0}, {1, 1, 1}, 1}, nodes, matrix.data());
    for (const CellRange& color : cell_colors(pattern_.grid)) add(color, matrix.data(), nodes, 0);
  }

  void add_cells(const DeviceCellKernel<T>& kernel, const Discretization& discretization) {
    const int slowest = pattern_.grid.dimension - 1;
    const int nodes = discretization.lattice.nodes_per_cell();
    const CsrScratch room = csr_scratch(discretization.mesh, discretization.lattice, sizeof(T));
    const int max_layers = static_cast<int>(room.layers);
    DeviceArray<T> matrices(room.values);
    for (const CellRange& color : cell_colors(pattern_.grid)) {
      for (int layer = 0; layer < color.count[slowest]; layer += max_layers) {
        CellRange range = color;
        range.first[slowest] += range.step * layer;
        range.count[slowest] = std::min(max_layers, color.count[slowest] - layer);
        find_local_matrices(kernel, range, nodes, matrices.data());
        add(range, matrices.data(), nodes, power(nodes, 2));
      }
    }
  }

  void add_face(const WeightedFace& weighted) {
    const FaceQuadrature& quadrature = weighted.quadrature;
    const CellGrid& grid = pattern_.grid;
    const int normal = face_axis(quadrature.face);
    const bool is_upper = is_upper_face(quadrature.face);
    FaceCells face{{quadrature.nodes.axes[0], grid.dimension == 3 ? quadrature.nodes.axes[1] : 2},
                   normal,
                   is_upper ? grid.cells[normal] - 1 : 0,
                   is_upper ? grid.degree : 0,
                   {0, 0},
                   {0, 0},
                   static_cast<int>(quadrature.cells[0]),
                   quadrature.points_per_cell,
                   quadrature.nodes_per_cell};
    const DeviceArray<double> weights(weighted.alpha_measure);
    const DeviceArray<double> shape(quadrature.shape);
    for (int parity = 0; parity < 4; ++parity) {
      for (int t = 0; t < 2; ++t) {
        face.first[t] = parity >> t & 1;
        face.count[t] = (static_cast<int>(quadrature.cells[t]) - face.first[t] + 1) / 2;
      }
      const Index entries = power(face.nodes, 2) * face.count[0] * face.count[1];
      if (entries == 0) continue;
      launch(add_face_kernel<T>, launch_of("adding Robin faces", entries), pattern_, face,
             weights.data(), shape.data(), rows_.starts.data(), rows_.values.data());
    }
  }

  Pattern pattern_;
  DeviceSparseRows<T> rows_;
};

}  // namespace

template <class T>
DeviceSparseRows<T> assemble_on_device(const BilinearForm& form,
                                       const DeviceCellKernel<T>& kernel) {
  const NodeLattice& lattice = form.discretization->lattice;
  if (lattice.size() > kMaxRowsOnGpu) {
    throw UnsuitableChoice(
        Choice::kernel, "the sparse matrix on the GPU has at most 2^31 - 1 rows, and there are " +
                            std::to_string(lattice.size()) + "; use \"tensor\", or \"auto\"");
  }
  return Assembly<T>(form, kernel, csr_nonzeros(lattice, form.dirichlet)).take_rows();
}

template DeviceSparseRows<double> assemble_on_device(const BilinearForm&,
                                                     const DeviceCellKernel<double>&);
template DeviceSparseRows<float> assemble_on_device(const BilinearForm&,
                                                    const DeviceCellKernel<float>&);

}  // namespace tessera
