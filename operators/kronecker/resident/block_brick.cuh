// A BlockBrick is the part of the mesh that a block of the kernel of resident conjugate gradients
// has.
#pragma once

#include "operators/kronecker/resident/launch.hpp"

namespace tessera {

/// threadIdx.x, read anew each time: registers are few, and what the compiler computes from it
/// ahead of a loop would take many.
__device__ __forceinline__ int this_thread() {
  int number;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(number));
  return number;
}

/// Divides numbers below 2^16 by a constant below 2^16.
class Divisor {
 public:
  Divisor() = default;
  __device__ explicit Divisor(int divisor)
      : factor_(0xffffffffU / static_cast<unsigned>(divisor) + 1U) {}
  /// A factor of 2^32 is 0 in 32 bits.
  __device__ int operator()(int number) const {
    return factor_ == 0 ? number
                        : static_cast<int>(__umulhi(static_cast<unsigned>(number), factor_));
  }

 private:
  unsigned factor_;  // 2^32 / divisor
};

struct NodeOfBrick {
  int place[3];
};

/// Nodes lie as [outer][middle][row], with one place behind each row that has an even number of
/// nodes. Places and cells are counted from the brick's first one.
struct BlockBrick {
  int cells[3];
  int nodes[3];
  int first[3];  // node of the mesh
  int row;       // places from one row to the next, from one plane to the next
  int plane;
  int size;
  int middle_stride;  // of what the first pass leaves
  int behind_q;       // values of the same that do not fit into the last plane of q
  int exchange;       // of the brick's first node
  bool shares[3][2];  // whether another brick has the nodes of this side, too
  int first_free[3];  // nodes that are not constrained
  int last_free[3];
  Divisor by_row;
  Divisor by_middle;  // nodes along the middle axis
  SharedCount shared;
  int faces;     // where the brick leaves nodes of its faces
  int other[6];  // how far from its places of each face the other brick's lie
  /// What is to be added to the diagonal of [axis][side], which is that of a vertex.
  EntryPair<double> end[3][2];

  __device__ static BlockBrick of(const ResidentAxis (&axes)[3], int dimension, int p, int number) {
    BlockBrick brick;
    brick.exchange = 0;
    for (int d = 0; d < 3; ++d) {
      const ResidentAxis& axis = axes[d];
      const int b = number % axis.bricks;
      number /= axis.bricks;
      const int begin = first_cell_of_brick(axis.cells, axis.bricks, b);
      brick.cells[d] = first_cell_of_brick(axis.cells, axis.bricks, b + 1) - begin;
      brick.nodes[d] = brick.cells[d] * p + 1;
      brick.first[d] = begin * p;
      brick.shares[d][0] = b > 0;
      brick.shares[d][1] = b < axis.bricks - 1;
      // Each brick before has a node more there than cells times p.
      brick.exchange += (brick.first[d] + b) * axis.exchange_stride;
      brick.first_free[d] = b == 0 && axis.is_constrained[0] ? 1 : 0;
      brick.last_free[d] =
          brick.nodes[d] - (b == axis.bricks - 1 && axis.is_constrained[1] ? 2 : 1);
    }
    brick.row = brick.nodes[0] | 1;
    brick.plane = brick.row * brick.nodes[1];
    brick.size = brick.plane * brick.nodes[2];
    brick.middle_stride = tessera::middle_stride(p, brick.row);
    brick.behind_q = values_behind_vector(dimension, p, brick.row, brick.nodes[1]);
    brick.by_row = Divisor(brick.row);
    brick.by_middle = Divisor(brick.nodes[1]);
    return brick;
  }

  __device__ NodeOfBrick node_at(int index) const {
    const int row_number = by_row(index);
    const int z = by_middle(row_number);
    return {{index - row_number * row, row_number - z * nodes[1], z}};
  }
  /// Of the copies of a node, the first one counts.
  __device__ bool owns(int d, int place) const { return place > 0 || !shares[d][0]; }
  __device__ bool owns(const NodeOfBrick& n) const {
    return owns(0, n.place[0]) && owns(1, n.place[1]) && owns(2, n.place[2]);
  }
  __device__ bool is_free(int d, int place) const {
    return place >= first_free[d] && place <= last_free[d];
  }
  __device__ std::int64_t index_in_mesh(const ResidentAxis (&axes)[3], const NodeOfBrick& n) const {
    std::int64_t index = 0;
#pragma unroll
    for (int d = 0; d < 3; ++d) index += (first[d] + n.place[d]) * axes[d].stride;
    return index;
  }
};

}  // namespace tessera
