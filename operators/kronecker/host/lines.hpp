// LineKernels do the products of the Kronecker operator along the lines of a batch.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "mesh/lanes/host_array.hpp"
#include "mesh/lanes/simd.hpp"
#include "operators/kronecker/factors/factors.hpp"

namespace tessera {

// The Kronecker operator's work on lines. Nodes lie by cells: a batch is kLanes<T> neighboring
// cells along x, its nodes are [p] Lanes<T>, node i of each cell in one vector, so that products
// along every axis need no shuffles. The last node of an axis is node 0 of one more cell.

/// Number of batches along x.
template <class T>
constexpr Index line_batches(Index cells) {
  return cells / kLanes<T> + 1;
}

/// Cells of a brick along y and z: enough for what it carries on to be little beside what it has.
constexpr Index brick_cells(Index degree) { return std::max<Index>(1, 8 / degree); }
/// Rows or planes of nodes of a brick, both ends included.
constexpr Index brick_nodes(Index degree) { return nodes_along(brick_cells(degree), degree); }
/// Lanes from one plane of a brick to the next.
constexpr Index brick_plane(Index degree) { return brick_nodes(degree) * degree; }

/// What the line kernels know of an axis. A cell's matrices are stored column by column, with the
/// rows and columns of constrained nodes: u is 0 there, and A u is not used.
template <class T>
struct LineAxis {
  explicit LineAxis(const AxisFactors& axis);

  AxisCells kind;
  int degree;
  Index cells;
  std::vector<T> full;  // M and K of each cell [cells][2][p + 1][p + 1]
  /// Where cells are alike: even M, even K [h][h], odd M, odd K [p + 1 - h][p + 1 - h],
  /// h = ceil((p + 1) / 2), and what Robin faces add to the stiffness of the end nodes.
  std::vector<T> halves;
  std::array<T, 2> end_terms{};
  std::array<bool, 2> constrained{};
};

/// Rows of values on their way to a vector, of which row j begins at node `first` + j `row`: they
/// are in SIMD vectors as they are in the vector's, and these in its cache lines.
template <class T>
struct RowsInLines {
  T* buffer;       // begins a cache line
  Index stride;    // from one row to the next, whole cache lines
  Lanes<T>* last;  // [rows], the batch's last values; on entry of the batch before
  Index first;     // counted from the beginning of a cache line
  Index row;

  /// Place of a row's first value in its cache line.
  Index place(Index j) const { return (first + j * row) % kLineValues<T>; }
  T* line(Index j) const { return buffer + j * stride; }
};

/// Products along the lines of one batch.
template <class T>
class LineKernels {
 public:
  virtual ~LineKernels() = default;

  /// a = M_x u, b = (K_x + r M_x) u [rows][p], r the reaction's: row j is the kLanes p + 1 values
  /// at u + j stride, of which those beyond the axis may be anything; constrained ends count as
  /// zero. carry [rows][2] is what the batch before adds to this one, and then this one to the
  /// next.
  virtual void x_rows(Index batch, Index rows, const T* u, Index stride, Lanes<T>* carry,
                      Lanes<T>* a, Lanes<T>* b) const = 0;
  /// c = M_y b + K_y a, d = M_y a [rows + 1][p] for the rows of `cells` cells from `first` on. On
  /// entry carry [4][p] has a, b, c, d of row 0, where c and d hold only what the cell before adds
  /// to them; on return it has those of the last row. Without cells, row 0 of a and b starts a
  /// carry.
  virtual void y_lines(Index first, Index cells, Lanes<T>* carry, const Lanes<T>* a,
                       const Lanes<T>* b, Lanes<T>* c, Lanes<T>* d) const = 0;
  /// c = M_z c + K_z d [planes + 1][brick_plane] for the first n lines, of `cells` cells from
  /// `first` on. On entry carry [3][brick_plane] has c, d and the result of plane 0, where the
  /// result holds only what the cell before adds to it; on return it has those of the last plane.
  /// Without cells, plane 0 of c and d starts a carry.
  virtual void z_lines(Index first, Index cells, Index n, Lanes<T>* carry, Lanes<T>* c,
                       const Lanes<T>* d) const = 0;
  /// The nodes of each row [p] one after another, kLanes p values after those of the batch before,
  /// as far as they fill SIMD vectors.
  virtual void write_rows(Index rows, const Lanes<T>* results, const RowsInLines<T>& to) const = 0;

  virtual void set_reaction(double reaction) = 0;

  virtual Index bytes() const = 0;
  /// Of one sweep, each product of the header's formulas once: with the halves of cells that are
  /// alike, and the sums of what two cells add to the node between them.
  virtual double flops() const = 0;
};

/// The kernels of these factors: unrolled for degrees up to kMaxFastDegree.
template <class T>
std::unique_ptr<LineKernels<T>> make_line_kernels(const KroneckerFactors& factors);

/// Bytes of the kernels of this mesh.
Index line_kernel_bytes(const BoxMesh& mesh, int degree, Index value_bytes);

}  // namespace tessera
