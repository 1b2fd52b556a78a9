// CommonNodes are the nodes that a brick has in common with others, and how q is added up there.
#pragma once

#include "operators/kronecker/resident/arguments.cuh"
#include "operators/kronecker/resident/block_brick.cuh"

namespace tessera {

/// This thread's share of the nodes that its block's brick has in common with others.
template <int P>
class CommonNodes {
 public:
  __device__ CommonNodes(const ResidentArguments<P>& g, const BlockBrick& brick)
      : g_(g), brick_(brick) {
    const FaceNode* const of_faces =
        g.face_nodes + static_cast<std::int64_t>(blockIdx.x) * g.max_shared;
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int k = 0; k < kMaxSharedNodesOfThread; ++k) {
      if (has(thread, k)) of_faces_[k] = of_faces[thread + k * kResidentThreads];
    }
  }

  /// Sets how far copies lie from each other in `faces`; one thread.
  __device__ static void set_faces(const ResidentArguments<P>& g, BlockBrick& brick) {
    brick.faces = static_cast<int>(blockIdx.x) * 6 * g.max_face;
    int bricks = 1;
    for (int d = 0; d < 3; ++d) {
      for (int side = 0; side < 2; ++side) {
        const int neighbor = side == 0 ? -bricks : bricks;
        brick.other[2 * d + side] = (neighbor * 6 + 1 - 2 * side) * g.max_face;
      }
      bricks *= g.axis[d].bricks;
    }
  }

  /// Leaves what the brick has of q for the others.
  __device__ __forceinline__ void give(const double* q) const {
    const int thread = this_thread();
#pragma unroll
    for (int k = 0; k < kMaxSharedNodesOfThread; ++k) {
      if (has(thread, k)) __stcg(g_.faces + place(of_faces_[k]), q[of_faces_[k].index()]);
    }
    for_each_edge(
        thread, [&](const EdgeNode& node) { __stcg(g_.exchange + node.exchange, q[node.index]); });
  }

  /// After a barrier: adds what the others have left, in the same order in all bricks.
  __device__ __forceinline__ void take(double* q) const {
    const int thread = this_thread();
    double others[kMaxSharedNodesOfThread];
#pragma unroll
    for (int k = 0; k < kMaxSharedNodesOfThread; ++k) {
      if (!has(thread, k)) continue;
      const FaceNode node = of_faces_[k];
      others[k] = __ldcg(g_.faces + place(node) + brick_.other[node.face()]);
    }
    for_each_edge(thread, [&](const EdgeNode& node) { q[node.index] = sum_of_copies(node); });
#pragma unroll
    for (int k = 0; k < kMaxSharedNodesOfThread; ++k) {
      if (has(thread, k)) q[of_faces_[k].index()] += others[k];
    }
  }

 private:
  __device__ bool has(int thread, int k) const {
    return thread + k * kResidentThreads < brick_.shared.of_faces;
  }
  __device__ int place(const FaceNode& node) const {
    return brick_.faces + node.face() * g_.max_face + node.place();
  }
  // f(node): one a thread, seldom more.
  template <class F>
  __device__ __forceinline__ void for_each_edge(int thread, F&& f) const {
    const EdgeNode* const of_edges =
        g_.edge_nodes + static_cast<std::int64_t>(blockIdx.x) * g_.max_edges;
    for (int s = thread; s < brick_.shared.of_edges; s += kResidentThreads) f(of_edges[s]);
  }

  __device__ static int side(const EdgeNode& node, int d) { return node.sides >> (2 * d) & 3; }
  // How far the copy of the brick on the other side of an axis lies, 0 where there is none.
  __device__ int step(const EdgeNode& node, int d) const {
    const int of = side(node, d);
    return of == 1 ? -g_.axis[d].exchange_stride : of == 2 ? g_.axis[d].exchange_stride : 0;
  }
  // From the lowest brick to the highest, x first.
  __device__ double sum_of_copies(const EdgeNode& node) const {
    double copies[8];
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      int at = node.exchange;
      bool exists = true;
#pragma unroll
      for (int d = 0; d < 3; ++d) {
        const int of = side(node, d);
        const bool is_upper = (c >> d & 1) != 0;
        // Where the brick has the node alone, its own copy is the lower one.
        if (is_upper != (of == 1)) at += step(node, d);
        exists = exists && (of != 0 || !is_upper);
      }
      copies[c] = exists ? __ldcg(g_.exchange + at) : 0.0;
    }
    double sum = 0.0;
#pragma unroll
    for (const double copy : copies) sum += copy;
    return sum;
  }

  const ResidentArguments<P>& g_;
  const BlockBrick& brick_;
  FaceNode of_faces_[kMaxSharedNodesOfThread];
};

}  // namespace tessera
