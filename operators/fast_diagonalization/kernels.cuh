// These kernels fold vectors and divide by eigenvalues on the GPU.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "mesh/node_lattice.hpp"
#include "operators/fast_diagonalization/axis_modes.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {

/// An axis of the free nodes as the kernels see it. Place i of `size` is the axis's free node i,
/// `stride` entries of the L-vector after node i - 1.
struct SweptAxis {
  std::int64_t stride;
  int size;
  int pairs;  // size / 2 where the axis is folded, else 0
};

/// How the L-vector and the padded array of rows lie to each other, [outer][middle][row] or
/// [middle][outer][row]: the even places of a row begin at 0, the odd ones at `odd_start`.
struct FoldLayout {
  SweptAxis x, middle, outer;
  std::int64_t first;  // the L-vector's entry of the first free node
  int even;            // even places along x
  int odd_start;
  int row;  // entries of a padded row
  // Entries of the array from a place along the middle or the outer axis to the next one.
  std::int64_t middle_step;
  std::int64_t outer_step;
};

inline constexpr int kFoldThreads = 128;

/// Blocks for so many pairs of x, and numbers of others that the grid's y and z loop over.
inline dim3 fold_grid(std::int64_t x, std::int64_t middle, std::int64_t outer) {
  constexpr std::int64_t kMax = 32768;
  return {blocks_for(x, kFoldThreads),
          static_cast<unsigned>(std::clamp<std::int64_t>(middle, 1, kMax)),
          static_cast<unsigned>(std::clamp<std::int64_t>(outer, 1, kMax))};
}

/// Fold: nodes -> places; unfold: places -> nodes.
enum class FoldDirection { fold, unfold };

/// The butterfly (a, b) -> (a + b, a - b) along each folded axis between the L-vector and the
/// padded array: a thread has a node and its mirror images, up to 8 values in registers. Launch:
/// kFoldThreads pairs of x a block, middle and outer pairs in a loop over the grid's y and z. No
/// shared memory; 16 bytes and 3 flops a DoF; deterministic.
template <FoldDirection direction, class T>
__global__ void __launch_bounds__(kFoldThreads)
    fold_kernel(FoldLayout g, const T* __restrict__ in, T* __restrict__ out) {
  const int i = blockIdx.x * kFoldThreads + threadIdx.x;
  if (i >= g.x.size - g.x.pairs) return;
  const auto mirror = [](const SweptAxis& axis, int k) {
    return k < axis.pairs ? axis.size - 1 - k : -1;
  };
  const int at_x[2] = {i, mirror(g.x, i)};
  // An odd place lies behind the padding of the even ones.
  const int place_x[2] = {at_x[0], at_x[1] - g.even + g.odd_start};
  for (int o = blockIdx.z; o < g.outer.size - g.outer.pairs; o += gridDim.z) {
    const int at_outer[2] = {o, mirror(g.outer, o)};
    for (int m = blockIdx.y; m < g.middle.size - g.middle.pairs; m += gridDim.y) {
      const int at_middle[2] = {m, mirror(g.middle, m)};
      const auto node = [&](int a) {
        return g.first + at_x[a & 1] * g.x.stride + at_middle[a >> 1 & 1] * g.middle.stride +
               at_outer[a >> 2] * g.outer.stride;
      };
      const auto place = [&](int a) {
        return at_outer[a >> 2] * g.outer_step + at_middle[a >> 1 & 1] * g.middle_step +
               place_x[a & 1];
      };
      const auto exists = [&](int a) {
        return at_x[a & 1] >= 0 && at_middle[a >> 1 & 1] >= 0 && at_outer[a >> 2] >= 0;
      };
      T u[8];
#pragma unroll
      for (int a = 0; a < 8; ++a) {
        if (exists(a)) u[a] = in[direction == FoldDirection::fold ? node(a) : place(a)];
      }
#pragma unroll
      for (int bit = 1; bit < 8; bit *= 2) {
#pragma unroll
        for (int a = 0; a < 8; ++a) {
          if ((a & bit) != 0 || !exists(a | bit)) continue;
          const T sum = u[a] + u[a | bit];
          u[a | bit] = u[a] - u[a | bit];
          u[a] = sum;
        }
      }
#pragma unroll
      for (int a = 0; a < 8; ++a) {
        if (exists(a)) out[direction == FoldDirection::fold ? place(a) : node(a)] = u[a];
      }
    }
  }
}

/// Queues fold_kernel(). There is a row at least, and a node in it.
template <FoldDirection direction, class T>
void fold(const FoldLayout& g, const T* in, T* out) {
  const dim3 grid =
      fold_grid(g.x.size - g.x.pairs, g.middle.size - g.middle.pairs, g.outer.size - g.outer.pairs);
  launch(fold_kernel<direction, T>, {"folding of fast diagonalization", grid, kFoldThreads}, g, in,
         out);
}

/// u /= sum of the eigenvalues, 0 where that is 0. The eigenvalues along x are padded as a row is,
/// with 1 in between. Launch: as fold_kernel(), but a thread an entry. 16 bytes a DoF,
/// deterministic.
template <class T>
__global__ void __launch_bounds__(kFoldThreads)
    scale_kernel(int row, int middle_size, int outer_size, const T* __restrict__ along_x,
                 const T* __restrict__ along_middle, const T* __restrict__ along_outer, T* u) {
  const int i = blockIdx.x * kFoldThreads + threadIdx.x;
  if (i >= row) return;
  const T x = along_x[i];
  for (int o = blockIdx.z; o < outer_size; o += gridDim.z) {
    const T outer = along_outer[o];
    for (int m = blockIdx.y; m < middle_size; m += gridDim.y) {
      const std::int64_t at = (static_cast<std::int64_t>(o) * middle_size + m) * row + i;
      u[at] *= inverse_sum(x, along_middle[m], outer);
    }
  }
}

/// z = r on faces. Launch: kFoldThreads nodes a block in turn, a face a blockIdx.y. Nodes on
/// several faces are written by each, with the same value.
template <class T>
__global__ void __launch_bounds__(kFoldThreads)
    copy_faces_kernel(std::array<FaceNodes, 6> faces, const T* __restrict__ r, T* __restrict__ z) {
  const FaceNodes& face = faces[blockIdx.y];
  const std::int64_t n = face.count();
  for (std::int64_t i = thread_number<kFoldThreads>(); i < n; i += thread_count<kFoldThreads>()) {
    const std::int64_t node = face.node(i % face.counts[0], i / face.counts[0]);
    z[node] = r[node];
  }
}

/// The nodes on Dirichlet faces, which keep their values.
class KeptFaces {
 public:
  KeptFaces(const NodeLattice& lattice, FaceSet dirichlet) {
    for (int face = 0; face < face_count(lattice.dimension()); ++face) {
      if (dirichlet[face]) faces_[count_++] = face_nodes(lattice, face);
    }
  }

  /// Queues z = r on them.
  template <class T>
  void copy(const T* r, T* z) const {
    if (count_ == 0) return;
    constexpr unsigned kBlocks = 256;
    launch(copy_faces_kernel<T>,
           {"constrained rows of fast diagonalization", dim3(kBlocks, count_), kFoldThreads},
           faces_, r, z);
  }

 private:
  std::array<FaceNodes, 6> faces_{};
  unsigned count_ = 0;
};

}  // namespace tessera
