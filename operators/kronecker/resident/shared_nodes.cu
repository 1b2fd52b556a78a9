// This kernel finds the nodes that bricks share.
#include "operators/kronecker/resident/block_brick.cuh"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

struct FindArguments {
  ResidentAxis axis[3];
  int dimension;
  int degree;
  int max_shared;
  int max_edges;
  FaceNode* of_faces;
  EdgeNode* of_edges;
  SharedCount* count;
};

__device__ int place_in_face(const BlockBrick& brick, int d, const NodeOfBrick& node) {
  const int first = d == 0 ? 1 : 0;
  const int second = d == 2 ? 1 : 2;
  return node.place[first] + node.place[second] * brick.nodes[first];
}

// One block of kResidentThreads a brick. The order of the nodes is not the same in every run, and
// does not matter.
__global__ void __launch_bounds__(kResidentThreads)
    find_shared_nodes_kernel(const FindArguments g) {
  __shared__ BlockBrick brick;
  __shared__ SharedCount count;
  const int number = static_cast<int>(blockIdx.x);
  if (threadIdx.x == 0) {
    brick = BlockBrick::of(g.axis, g.dimension, g.degree, number);
    count = {0, 0};
  }
  __syncthreads();
  FaceNode* const of_faces = g.of_faces + static_cast<std::int64_t>(number) * g.max_shared;
  EdgeNode* const of_edges = g.of_edges + static_cast<std::int64_t>(number) * g.max_edges;
  for (int index = threadIdx.x; index < brick.size; index += kResidentThreads) {
    const NodeOfBrick node = brick.node_at(index);
    if (node.place[0] == brick.nodes[0]) continue;  // behind a row
    EdgeNode edge{static_cast<std::uint16_t>(index), 0, brick.exchange};
    int axes = 0;
    int face = 0;
    for (int d = 0; d < 3; ++d) {
      edge.exchange += node.place[d] * g.axis[d].exchange_stride;
      const bool is_low = node.place[d] == 0 && brick.shares[d][0];
      const bool is_high = node.place[d] == brick.nodes[d] - 1 && brick.shares[d][1];
      if (!is_low && !is_high) continue;
      ++axes;
      face = 2 * d + (is_high ? 1 : 0);
      edge.sides |= static_cast<std::uint16_t>((is_low ? 1 : 2) << (2 * d));
    }
    if (axes == 1) {
      of_faces[atomicAdd(&count.of_faces, 1)] =
          FaceNode(index, face, place_in_face(brick, face / 2, node));
    } else if (axes > 1) {
      of_edges[atomicAdd(&count.of_edges, 1)] = edge;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) g.count[number] = count;
}

}  // namespace

void launch_shared_nodes(const ResidentData& data, int bricks, FaceNode* of_faces,
                         EdgeNode* of_edges, SharedCount* count) {
  FindArguments arguments{{},       data.dimension, data.degree, data.max_shared, data.max_edges,
                          of_faces, of_edges,       count};
  for (int d = 0; d < 3; ++d) arguments.axis[d] = data.axis[d];
  launch(find_shared_nodes_kernel,
         {"nodes that bricks share", static_cast<unsigned>(bricks), kResidentThreads}, arguments);
}

}  // namespace tessera
