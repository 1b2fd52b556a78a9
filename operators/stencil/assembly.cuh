// These kernels make the coefficients of a stencil.
#pragma once

#include "operators/cells/device_cells.hpp"
#include "operators/stencil/layout.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

// The kernels that make the coefficients of stencil.cu, which alone includes this. A thread adds
// all that a node gets: no atomics, deterministic.

constexpr int kAssemblyThreads = 128;

// One thread a node, striding.
Launch assembly_launch(const char* name, Index nodes) {
  return {name, blocks_for(nodes, kAssemblyThreads, kMaxGrid), kAssemblyThreads};
}

// One thread a node; calls f(node) for all nodes < count.
template <class F>
__device__ void for_each_thread_node(Index count, F&& f) {
  for (Index i = thread_number<kAssemblyThreads>(); i < count;
       i += thread_count<kAssemblyThreads>()) {
    f(i);
  }
}

// Along the axes of the lattice.
template <int dim>
struct LatticeNode {
  int at[3];

  __device__ bool is_constrained(const CellGrid& grid) const {
    unsigned faces = 0U;
    for (int d = 0; d < dim; ++d) {
      if (at[d] == 0) faces |= 1U << (2 * d);
      if (at[d] == grid.cells[d]) faces |= 2U << (2 * d);
    }
    return (faces & grid.dirichlet) != 0U;
  }

  // Of its diagonal coefficient.
  __device__ Index place(const StencilLayout& layout) const {
    return at[0] + (dim == 3 ? at[1] * layout.row : 0) + at[dim - 1] * layout.plane;
  }
};

// a_k[i] += sum over the cells of the range that have node i and its neighbor of K_c[i][j], in the
// order of the cells' numbers, where both are free. Cells of the range are first + index. Reads up
// to N^2 values a cell, reads and writes 14 (2D: 5) a node.
// @param matrices [cell * matrix_stride + j N + i], N = 2^dim; matrix_stride is 0 if all are alike
template <class T, int dim>
__global__ void __launch_bounds__(kAssemblyThreads)
    add_cells_kernel(const CellGrid grid, const CellRange range, const StencilLayout layout,
                     const T* __restrict__ matrices, Index matrix_stride, T* __restrict__ a) {
  constexpr int kNodes = 1 << dim;
  const int row = range.count[0] + 1;
  const int rows = range.count[1] + 1;
  const int planes = dim == 3 ? range.count[2] + 1 : 1;
  for_each_thread_node(static_cast<Index>(row) * rows * planes, [&](Index i) {
    const Index line = i / row;
    // In the slab.
    const int at[3] = {static_cast<int>(i % row), static_cast<int>(line % rows),
                       static_cast<int>(line / rows)};
    const LatticeNode<dim> node{
        {range.first[0] + at[0], range.first[1] + at[1], range.first[2] + at[2]}};
    if (node.is_constrained(grid)) return;
    for (int k = 0; k <= StencilNeighbors<dim>::kNeighbors; ++k) {
      const StencilOffset o = k == 0 ? StencilOffset{0, 0, 0} : StencilNeighbors<dim>::offset(k);
      const int step[3] = {o.x, dim == 3 ? o.y : o.z, dim == 3 ? o.z : 0};
      LatticeNode<dim> other{};
      // The cells that have both: first .. last along each axis.
      int first[3] = {0, 0, 0};
      int last[3] = {0, 0, 0};
      bool exists = true;
      for (int d = 0; d < dim; ++d) {
        other.at[d] = node.at[d] + step[d];
        first[d] = max(at[d] + max(step[d], 0) - 1, 0);
        last[d] = min(at[d] + min(step[d], 0), range.count[d] - 1);
        exists = exists && first[d] <= last[d];
      }
      if (!exists || other.is_constrained(grid)) continue;
      T sum{0};
      for (int z = first[2]; z <= last[2]; ++z) {
        for (int y = first[1]; y <= last[1]; ++y) {
          for (int x = first[0]; x <= last[0]; ++x) {
            const Index cell = x + range.count[0] * (y + range.count[1] * static_cast<Index>(z));
            const int local = at[0] - x + 2 * (at[1] - y) + 4 * (at[2] - z);
            const int local_other = local + step[0] + 2 * step[1] + 4 * step[2];
            sum += matrices[cell * matrix_stride + local_other * kNodes + local];
          }
        }
      }
      a[k * layout.array + node.place(layout)] += sum;
    }
  });
}

// A Robin face; the second tangential axis has one cell and one node in 2D.
struct StencilFace {
  int axes[2];
  int normal;
  int normal_at;  // of its nodes
  int cells[2];
  int points;  // a face cell
};

// a_k[i] += sum over the face cells that have node i and its neighbor of sum_q phi_i(q) phi_j(q)
// alpha_q dS_q, where both are free. weights: alpha dS, [cell][q]; shape: [q][i].
template <class T, int dim>
__global__ void __launch_bounds__(kAssemblyThreads)
    add_face_kernel(const CellGrid grid, const StencilFace face, const StencilLayout layout,
                    const double* __restrict__ weights, const double* __restrict__ shape,
                    T* __restrict__ a) {
  constexpr int kNodes = 1 << (dim - 1);
  constexpr int kPower[3] = {1, 3, 9};
  const int row = face.cells[0] + 1;
  const int rows = dim == 3 ? face.cells[1] + 1 : 1;
  for_each_thread_node(static_cast<Index>(row) * rows, [&](Index i) {
    const int at[2] = {static_cast<int>(i % row), static_cast<int>(i / row)};
    LatticeNode<dim> node{};
    node.at[face.normal] = face.normal_at;
    for (int t = 0; t < dim - 1; ++t) node.at[face.axes[t]] = at[t];
    if (node.is_constrained(grid)) return;
    for (int number = 0; number <= (dim == 3 ? 4 : 1); ++number) {
      // The later neighbors on the face, itself first.
      const int second = number < 2 ? 0 : 1;
      const int step[2] = {number - 3 * second, second};
      LatticeNode<dim> other = node;
      int first[2] = {0, 0};
      int last[2] = {0, 0};
      bool exists = true;
      int k = 0;
      for (int t = 0; t < dim - 1; ++t) {
        other.at[face.axes[t]] += step[t];
        k += step[t] * kPower[face.axes[t]];
        first[t] = max(at[t] + max(step[t], 0) - 1, 0);
        last[t] = min(at[t] + min(step[t], 0), face.cells[t] - 1);
        exists = exists && first[t] <= last[t];
      }
      if (!exists || other.is_constrained(grid)) continue;
      double sum = 0.0;
      for (int y = first[1]; y <= last[1]; ++y) {
        for (int x = first[0]; x <= last[0]; ++x) {
          const Index cell = x + static_cast<Index>(face.cells[0]) * y;
          const int local = at[0] - x + 2 * (at[1] - y);
          const int local_other = local + step[0] + 2 * step[1];
          for (int q = 0; q < face.points; ++q) {
            sum += weights[cell * face.points + q] * shape[q * kNodes + local] *
                   shape[q * kNodes + local_other];
          }
        }
      }
      a[k * layout.array + node.place(layout)] += static_cast<T>(sum);
    }
  });
}

// a_0 = 1 on constrained nodes.
template <class T, int dim>
__global__ void __launch_bounds__(kAssemblyThreads)
    constrain_kernel(const CellGrid grid, const StencilLayout layout, T* a) {
  for_each_thread_node(grid.nodes.size(), [&](Index i) {
    const IndexTriple at = grid.nodes.position(i);
    const LatticeNode<dim> node{
        {static_cast<int>(at[0]), static_cast<int>(at[1]), static_cast<int>(at[2])}};
    if (node.is_constrained(grid)) a[node.place(layout)] = T{1};
  });
}

// d_i = a_0[i].
template <class T>
__global__ void __launch_bounds__(kAssemblyThreads)
    copy_diagonal_kernel(const StencilLayout layout, const T* __restrict__ a, T* __restrict__ d) {
  const Index row = layout.x_row;
  const Index nodes = row * layout.extent[1] * layout.extent[2];
  for_each_thread_node(nodes, [&](Index i) { d[i] = a[i / row * layout.row + i % row]; });
}

}  // namespace
}  // namespace tessera
