// The constrained nodes of a mesh, where A is the identity: blocks of their own go through them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "operators/kronecker/node_stores.cuh"

namespace tessera {

/// Nodes of a constrained face: node (i, j) is first + i stride + j row_stride, for i < width, and
/// is number i + j width.
struct ConstrainedFace {
  std::int64_t first;
  std::int64_t stride;
  std::int64_t row_stride;
  unsigned width;
  unsigned size;
  unsigned end_block;  // behind the blocks that go through it
};

/// All constrained nodes: of the faces across z all nodes, of those across y what these leave, and
/// of those across x what both leave.
struct ConstrainedNodes {
  ConstrainedFace faces[6];
  int face_count = 0;
  unsigned blocks = 0;
  unsigned of_block = 1;  // nodes that a block goes through
};

/// Who stores the constrained nodes at the ends of rows: blocks of their own would write parts of
/// sectors of memory, which the tiles that have the rows write as well, at another time.
enum class RowEnds { by_tiles, by_blocks };

/// Nodes that a thread has on their way at a time, and goes through in all if they are not many.
inline constexpr int kConstrainedAtOnce = 8;
inline constexpr int kConstrainedOfThread = 16;

/// The constrained nodes, without the ends of rows if tiles store these, for about `max_blocks`
/// blocks of `threads` threads at most.
template <class T>
ConstrainedNodes constrained_nodes(const DeviceAxis<T>* axis, const IndexBox& nodes,
                                   RowEnds row_ends, int threads, int max_blocks) {
  ConstrainedNodes all;
  std::int64_t count = 0;
  const auto free_count = [&](int d) { return axis[d].last_free - axis[d].first_free + 1; };
  for (int d = 2; d >= 0; --d) {
    const int first = d == 0 ? 1 : 0;
    const int second = d == 2 ? 1 : 2;
    // Of axes beyond d, constrained nodes have been counted.
    const auto begin = [&](int a) { return a > d ? axis[a].first_free : 0; };
    const auto size = [&](int a) { return a > d ? free_count(a) : axis[a].nodes; };
    for (int side = 0; side < 2; ++side) {
      const bool is_constrained =
          side == 0 ? axis[d].first_free > 0 : axis[d].last_free < axis[d].nodes - 1;
      if (!is_constrained || (d == 0 && row_ends == RowEnds::by_tiles)) continue;
      ConstrainedFace& face = all.faces[all.face_count++];
      face.first = side * (axis[d].nodes - 1) * nodes.strides[d] +
                   begin(first) * nodes.strides[first] + begin(second) * nodes.strides[second];
      face.stride = nodes.strides[first];
      face.row_stride = nodes.strides[second];
      face.width = static_cast<unsigned>(size(first));
      // A face has fewer than 2^32 nodes.
      face.size = face.width * static_cast<unsigned>(size(second));
      count += face.size;
    }
  }
  all.of_block = static_cast<unsigned>(std::max<std::int64_t>(
      static_cast<std::int64_t>(threads) * kConstrainedOfThread, count / max_blocks + 1));
  for (int f = 0; f < all.face_count; ++f) {
    all.blocks += (all.faces[f].size + all.of_block - 1) / all.of_block;
    all.faces[f].end_block = all.blocks;
  }
  return all;
}

/// y = x and what the form makes of it at the constrained nodes that block `block` goes through. At
/// the end of the tiles that have them, where they were before, they took 5 to 9 % of an
/// application at 33 million DoFs (one H200), and up to half of one at a million.
template <KroneckerPass compiled, int threads, class T>
__device__ __forceinline__ void copy_constrained_nodes(const KroneckerVectors<T>& v,
                                                       const ConstrainedNodes& nodes,
                                                       unsigned block, Sums<2>& sums) {
  int f = 0;
  while (block >= nodes.faces[f].end_block) ++f;
  const ConstrainedFace& face = nodes.faces[f];
  if (f > 0) block -= nodes.faces[f - 1].end_block;
  const unsigned first = block * nodes.of_block;
  const unsigned end = first + min(nodes.of_block, face.size - first);
  unsigned number = first + threadIdx.x;
  unsigned row = number / face.width;
  unsigned column = number % face.width;
  with_form<compiled>(v, [&]<KroneckerPass form>() {
    while (number < end) {
      std::int64_t node[kConstrainedAtOnce];
      T x[kConstrainedAtOnce];
      Beside<form, T> beside[kConstrainedAtOnce];
#pragma unroll
      for (int k = 0; k < kConstrainedAtOnce; ++k) {
        node[k] = number < end ? face.first + row * face.row_stride + column * face.stride : -1;
        number += threads;
        column += threads;
        if (column >= face.width) {
          row += column / face.width;
          column %= face.width;
        }
        if (node[k] < 0) continue;
        x[k] = __ldg(v.x + node[k]);
        beside[k] = load_beside<form>(v, node[k]);
      }
#pragma unroll
      for (int k = 0; k < kConstrainedAtOnce; ++k) {
        if (node[k] >= 0) store_result<form>(v, node[k], x[k], beside[k], sums);
      }
    }
  });
}

}  // namespace tessera
