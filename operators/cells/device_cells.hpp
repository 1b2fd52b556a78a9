// Local kernels on the GPU: where u comes from and where v goes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operators/form/cell_grid.hpp"
#include "operators/form/factor_storage.hpp"

namespace tessera {

/// Where a launch takes a cell's u from.
template <class T>
struct CellSource {
  /// The L-vector that is gathered, constrained entries as zeros; null: u is a unit vector.
  const T* x = nullptr;
  /// Local node that is 1.
  int unit_node = 0;
};

/// How a launch adds a cell's v into y.
enum class SinkKind {
  add_atomic,    // y += v, atomically
  add,           // y += v
  first_or_add,  // y = v where no cell of a lower color has been, y += v elsewhere
  cells,         // values[number of the cell in the range * cell_stride + local node] = v
  patch          // thread blocks add bricks of cells in shared memory; surfaces += atomically
};

/// Where a launch puts a cell's v. All kinds but `cells` write y = x on constrained nodes.
template <class T>
struct CellSink {
  SinkKind kind;
  T* values;
  const T* x = nullptr;
  Index cell_stride = 0;
};

/// A local kernel on the GPU: v_c = K_c u_c for many cells at once; asynchronous.
template <class T>
class DeviceCellKernel {
 public:
  virtual ~DeviceCellKernel() = default;

  /// Its row in kernel_table(), and how it gets general factors (nothing where they are not
  /// general): what operator_name() is made of.
  virtual std::string_view name() const = 0;
  virtual std::optional<FactorStorage> factor_storage() const = 0;
  /// Why it has no SinkKind::patch, in a user's words; empty if it has. apply() aborts for a sink
  /// that the kernel does not have.
  virtual std::string why_no_patches() const = 0;
  virtual void apply(const CellRange& range, const CellSource<T>& source,
                     const CellSink<T>& sink) const = 0;
  /// d += the diagonals of the K_c of all cells, color after color: cells of one share no node.
  virtual void add_diagonal(const std::vector<CellRange>& colors, T* d) const = 0;
  virtual double flops_per_cell() const = 0;
  /// Memory that it holds, and the part of it that every application reads.
  virtual Index bytes() const = 0;
  virtual Index streamed_bytes() const = 0;
};

/// The matrices of the cells of a range, [cell][j][i] = K_c[i][j] with N nodes a cell, by a
/// kernel's application to the N unit vectors; asynchronous.
template <class T>
void find_local_matrices(const DeviceCellKernel<T>& kernel, const CellRange& range, int nodes,
                         T* matrices) {
  const Index stride = power(nodes, 2);
  for (int j = 0; j < nodes; ++j) {
    kernel.apply(range, {nullptr, j},
                 {SinkKind::cells, matrices + static_cast<Index>(j) * nodes, nullptr, stride});
  }
}

}  // namespace tessera
