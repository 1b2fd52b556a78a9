// These device functions gather, scatter and add lines of nodes.
#pragma once

#include "operators/cells/cell_access.cuh"
#include "operators/tensor/gpu/arguments.cuh"

namespace tessera {

/// The cell of a thread: its threads have one threadIdx.y in the block.
struct BlockCell {
  int brick_position[3];  // of the block's first cell in the range
  CellPlace place;
  Index number;  // in the range
  bool active;   // bricks at the end of the range have fewer cells
};

template <class T>
__device__ inline BlockCell block_cell(const TensorArguments<T>& args) {
  BlockCell cell;
  const unsigned bx = blockIdx.x % args.bricks[0];
  const unsigned row = blockIdx.x / args.bricks[0];
  cell.brick_position[0] = static_cast<int>(bx) * args.brick[0];
  cell.brick_position[1] = static_cast<int>(row % args.bricks[1]) * args.brick[1];
  cell.brick_position[2] = static_cast<int>(row / args.bricks[1]) * args.brick[2];
  const int local = static_cast<int>(threadIdx.y);
  const int ix = cell.brick_position[0] + local % args.brick[0];
  const int iy = cell.brick_position[1] + local / args.brick[0] % args.brick[1];
  const int iz = cell.brick_position[2] + local / (args.brick[0] * args.brick[1]);
  const CellRange& range = args.range;
  cell.active = ix < range.count[0] && iy < range.count[1] && iz < range.count[2];
  cell.number = ix + range.count[0] * (iy + static_cast<Index>(range.count[1]) * iz);
  if (cell.active) cell.place = place_cell(args.grid, range, ix, iy, iz);
  return cell;
}

/// A line of n nodes of a cell along one axis.
struct NodeLine {
  int axis;
  Index lattice;  // of its first node
  Index stride;   // in the lattice
  int local;      // of its first node
  int local_stride;
  unsigned faces;  // of the cell, on which all of it lies
};

/// The line of nodes along z of thread (a, b).
template <int P>
__device__ __forceinline__ NodeLine line_along_z(const CellGrid& grid, const CellPlace& place,
                                                 int a, int b) {
  constexpr int n = P + 1;
  return {2,     place.first_node + a + b * grid.nodes.strides[1], grid.nodes.strides[2], a + n * b,
          n * n, face_mask(0, a, P) | face_mask(1, b, P)};
}

/// In 3D, the line of nodes along y with (x, z) = (a, b).
template <int P>
__device__ __forceinline__ NodeLine line_along_y_of_3d(const CellGrid& grid, const CellPlace& place,
                                                       int a, int b) {
  constexpr int n = P + 1;
  return {1, place.first_node + a + b * grid.nodes.strides[2], grid.nodes.strides[1], a + n * n * b,
          n, face_mask(0, a, P) | face_mask(2, b, P)};
}

/// u along a line of nodes.
template <int n, class T>
__device__ __forceinline__ void gather_line(const CellSource<T>& source, const CellPlace& place,
                                            const NodeLine& line, T (&u)[n]) {
  if (source.x == nullptr) {
#pragma unroll
    for (int a = 0; a < n; ++a) {
      u[a] = line.local + a * line.local_stride == source.unit_node ? T{1} : T{0};
    }
    return;
  }
  const T* x = source.x + line.lattice;
#pragma unroll
  for (int a = 0; a < n; ++a) u[a] = x[a * line.stride];
  if (place.fixed == 0U) return;
#pragma unroll
  for (int a = 0; a < n; ++a) {
    if ((place.fixed & (line.faces | face_mask(line.axis, a, n - 1))) != 0U) u[a] = T{0};
  }
}

/// Puts v of a line of nodes where the sink says; not for SinkKind::patch.
template <int n, class T>
__device__ __forceinline__ void scatter_line(const CellSink<T>& sink, const CellPlace& place,
                                             Index number, const NodeLine& line, const T (&v)[n]) {
  if (sink.kind == SinkKind::cells) {
    T* values = sink.values + number * sink.cell_stride + line.local;
#pragma unroll
    for (int a = 0; a < n; ++a) values[a * line.local_stride] = v[a];
    return;
  }
  T* y = sink.values + line.lattice;
  if (place.fixed == 0U && sink.kind == SinkKind::add_atomic) {
#pragma unroll
    for (int a = 0; a < n; ++a) atomicAdd(y + a * line.stride, v[a]);
    return;
  }
  if (place.fixed == 0U && sink.kind == SinkKind::first_or_add) {
    T before[n];
    bool added[n];
#pragma unroll
    for (int a = 0; a < n; ++a) {
      added[a] = (place.earlier & (line.faces | face_mask(line.axis, a, n - 1))) != 0U;
      before[a] = added[a] ? y[a * line.stride] : T{0};
    }
#pragma unroll
    for (int a = 0; a < n; ++a) y[a * line.stride] = before[a] + v[a];
    return;
  }
#pragma unroll
  for (int a = 0; a < n; ++a) {
    const unsigned faces = line.faces | face_mask(line.axis, a, n - 1);
    T* to = y + a * line.stride;
    if ((place.fixed & faces) != 0U) {
      *to = sink.x[line.lattice + a * line.stride];
    } else if (sink.kind == SinkKind::add_atomic) {
      atomicAdd(to, v[a]);
    } else if (sink.kind == SinkKind::first_or_add && (place.earlier & faces) == 0U) {
      *to = v[a];
    } else {
      *to += v[a];
    }
  }
}

/// Adds the cells of the block's brick, whose v lie in shared memory, and writes the brick's nodes:
/// those inside it and on the box's boundary y = sum, those shared with other bricks y += sum,
/// atomically. Cells are added in a fixed order.
/// @param v of cell 0 of the block, local nodes x fastest; the next cell's is cell_values further
template <int dim, int P, class T>
__device__ inline void scatter_brick(const TensorArguments<T>& args, const BlockCell& cell,
                                     const T* v, int cell_values) {
  constexpr int n = P + 1;
  int extents[3] = {1, 1, 1};
  int cells[3] = {1, 1, 1};
  unsigned shared_faces = 0U;
  Index first_node = 0;
#pragma unroll
  for (int d = 0; d < dim; ++d) {
    const int begin = cell.brick_position[d];
    cells[d] = min(args.brick[d], args.range.count[d] - begin);
    extents[d] = nodes_along(cells[d], P);
    if (begin > 0) shared_faces |= 1U << (2 * d);
    if (begin + cells[d] < args.range.count[d]) shared_faces |= 2U << (2 * d);
    first_node += begin * P * args.grid.nodes.strides[d];
  }
  const int nodes = extents[0] * extents[1] * extents[2];
  const int threads = blockDim.x * blockDim.y;
  const SmallDivisor by_x(extents[0]);
  const SmallDivisor by_y(extents[1]);
  for (int t = threadIdx.y * blockDim.x + threadIdx.x; t < nodes; t += threads) {
    const int row = by_x.quotient(t);
    int position[3] = {t - row * extents[0], row, 0};
    if constexpr (dim == 3) {
      position[2] = by_y.quotient(row);
      position[1] = row - position[2] * extents[1];
    }
    // Along each axis the node is in one cell or, between two, in both.
    int last_cell[3] = {0, 0, 0};
    int last_local[3] = {0, 0, 0};
    int count[3] = {1, 1, 1};
    unsigned faces = 0U;
    Index node = first_node;
#pragma unroll
    for (int d = 0; d < dim; ++d) {
      last_cell[d] = position[d] / P;
      last_local[d] = position[d] % P;
      if (last_local[d] == 0 && last_cell[d] > 0) {
        if (last_cell[d] == cells[d]) {
          --last_cell[d];
          last_local[d] = P;
        } else {
          count[d] = 2;
        }
      }
      faces |= face_mask(d, position[d], extents[d] - 1);
      node += position[d] * args.grid.nodes.strides[d];
    }
    T sum{0};
    for (int cz = 0; cz < count[2]; ++cz) {
      for (int cy = 0; cy < count[1]; ++cy) {
        for (int cx = 0; cx < count[0]; ++cx) {
          const int step[3] = {cx, cy, cz};
          int local = 0;
          int number = 0;
#pragma unroll
          for (int d = dim - 1; d >= 0; --d) {
            local = local * n + (step[d] == 0 ? last_local[d] : P);
            number = number * args.brick[d] + last_cell[d] - step[d];
          }
          sum += v[number * cell_values + local];
        }
      }
    }
    // The range of a patch launch is the whole mesh: faces that are not shared are the box's.
    const unsigned on_box = faces & ~shared_faces;
    T* y = args.sink.values + node;
    if ((on_box & args.grid.dirichlet) != 0U) {
      *y = args.sink.x[node];
    } else if ((faces & shared_faces) != 0U) {
      atomicAdd(y, sum);
    } else {
      *y = sum;
    }
  }
}

}  // namespace tessera
