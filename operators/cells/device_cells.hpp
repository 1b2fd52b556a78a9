// These types tell GPU kernels which cells to work on, where u comes from and where v goes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/index.hpp"
#include "operators/form/bilinear_form.hpp"
#include "operators/form/factor_storage.hpp"

namespace tessera {

/// What GPU kernels know of mesh and lattice; passed to them by value.
struct CellGrid {
  int dimension;
  int degree;
  int cells[3];     // along each axis; 1 for the third in 2D
  Index stride[3];  // lattice offset from a node to the next along an axis
  Index node_count;
  unsigned dirichlet;  // bit f: face f of the box is constrained
};

/// The most nodes along an axis on the GPU: kernels count them in 32 bits, with tiles that may end
/// some thousand places beyond the last.
inline constexpr Index kMaxDeviceExtent = (Index{1} << 31) - (Index{1} << 16);

CellGrid make_cell_grid(const BilinearForm& form);

/// The number of a cell in the mesh, x fastest.
constexpr Index cell_number(const CellGrid& grid, const int (&position)[3]) {
  return position[0] +
         grid.cells[0] * (position[1] + grid.cells[1] * static_cast<Index>(position[2]));
}

/// The cells that one launch works on: first + step * index along each axis, index < count; they
/// are numbered x fastest.
struct CellRange {
  int first[3];
  int count[3];
  int step;

  constexpr Index size() const { return static_cast<Index>(count[0]) * count[1] * count[2]; }
};

/// All cells, numbered as in the mesh.
CellRange all_cells(const CellGrid& grid);

/// The cells by color c = (i_x mod 2) + 2 (i_y mod 2) + 4 (i_z mod 2), lowest first; cells of one
/// color share no node. Colors without cells are left out.
std::vector<CellRange> cell_colors(const CellGrid& grid);

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
