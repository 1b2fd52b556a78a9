// This kernel does iterations of conjugate gradients with all vectors on the GPU's chip.
#pragma once

#include <cooperative_groups.h>

#include <utility>

#include "mesh/with_constant.hpp"
#include "operators/kronecker/resident/common_nodes.cuh"
#include "operators/kronecker/resident/launch.hpp"
#include "operators/kronecker/resident/passes.cuh"
#include "solvers/memory/warp.cuh"

namespace tessera {
namespace {

constexpr int kWarps = kResidentThreads / kWarp;

// Leaves this block's sum for add_blocks(), after a barrier of the block.
// @param of_warps [kWarps], not in use since the barrier before
__device__ __forceinline__ void leave_sum(double mine, double* of_warps, double* partial) {
  const int thread = this_thread();
  mine = sum_over_lanes<kWarp>(mine);
  if (thread % kWarp == 0) of_warps[thread / kWarp] = mine;
  __syncthreads();
  if (thread >= kWarp) return;
  const double sum = sum_over_lanes<kWarps>(of_warps[thread % kWarps]);
  if (thread == 0) __stcg(partial + blockIdx.x, sum);
}
// The last warp of a block, which has the fewest shared nodes, adds up what blocks have left; read
// after a barrier of the block. One warp, because all blocks read the same few lines of the L2
// cache.
__device__ __forceinline__ void add_blocks(const double* partial, double* total) {
  const int lane = static_cast<int>(threadIdx.x) - (kResidentThreads - kWarp);
  if (lane < 0) return;
  double sum = 0.0;
#pragma unroll 8
  for (unsigned b = static_cast<unsigned>(lane); b < gridDim.x; b += kWarp) {
    sum += __ldcg(partial + b);
  }
  sum = sum_over_lanes<kWarp>(sum);
  if (lane == 0) *total = sum;
}

// Calls f(k, index) for the nodes of this thread, those behind rows included.
template <class F>
__device__ __forceinline__ void for_each_own(const BlockBrick& brick, F&& f) {
  const int thread = this_thread();
#pragma unroll
  for (int k = 0; k < kMaxNodesOfThread; ++k) {
    const int index = thread + k * kResidentThreads;
    if (index < brick.size) f(k, index);
  }
}
// The same in groups: store(k, index, load(k, index)), with the loads of a group on their way
// together.
template <class Load, class Store>
__device__ __forceinline__ void for_each_own_group(const BlockBrick& brick, Load&& load,
                                                   Store&& store) {
  constexpr int kGroup = 5;
  static_assert(kMaxNodesOfThread % kGroup == 0);
  const int thread = this_thread();
#pragma unroll
  for (int first = 0; first < kMaxNodesOfThread; first += kGroup) {
    if (thread + first * kResidentThreads >= brick.size) return;
    double values[kGroup];
#pragma unroll
    for (int j = 0; j < kGroup; ++j) {
      const int index = thread + (first + j) * kResidentThreads;
      values[j] = index < brick.size ? load(first + j, index) : 0.0;
    }
#pragma unroll
    for (int j = 0; j < kGroup; ++j) {
      const int index = thread + (first + j) * kResidentThreads;
      if (index < brick.size) store(first + j, index, values[j]);
    }
  }
}

// What has been added to x: of as many nodes in shared memory as there is room for.
class Step {
 public:
  // @param room values of shared memory from `shared` on
  __device__ Step(double* shared, int room, double* elsewhere)
      : shared_(shared), elsewhere_(elsewhere), kept_(max(0, room) / kResidentThreads) {}

  __device__ __forceinline__ double get(int k, int index) const {
    return k < kept_ ? shared_[index] : __ldcg(elsewhere_ + index);
  }
  __device__ __forceinline__ void clear(int k, int index) const {
    if (k < kept_) {
      shared_[index] = 0.0;
    } else {
      elsewhere_[index] = 0.0;
    }
  }
  // A thread's additions arrive in their order, and it does not wait for them.
  __device__ __forceinline__ void add(int k, int index, double value) const {
    if (k < kept_) {
      shared_[index] += value;
    } else {
      atomicAdd(elsewhere_ + index, value);
    }
  }

 private:
  double* shared_;
  double* elsewhere_;
  int kept_;  // nodes of each thread
};

// u = p and q = r of this thread's nodes, 0 behind rows. Returns which of them count here, a bit
// each.
template <int P>
__device__ unsigned load_vectors(const ResidentArguments<P>& g, const BlockBrick& brick, double* u,
                                 double* q) {
  unsigned owned = 0;
#pragma unroll 1
  for (int k = 0; k < kMaxNodesOfThread; ++k) {
    const int index = static_cast<int>(threadIdx.x) + k * kResidentThreads;
    if (index >= brick.size) break;
    const NodeOfBrick node = brick.node_at(index);
    const bool is_node = node.place[0] < brick.nodes[0];
    const std::int64_t at = brick.index_in_mesh(g.axis, node);
    u[index] = is_node ? g.v.p[at] : 0.0;
    q[index] = is_node ? g.v.r[at] : 0.0;
    if (is_node && brick.owns(node)) owned |= 1U << k;
  }
  return owned;
}

// p = u, r = q and x += step at the nodes that count here.
template <int P>
__device__ void store_vectors(const ResidentArguments<P>& g, const BlockBrick& brick,
                              unsigned owned, const double* u, const double* q, const Step& step) {
#pragma unroll 1
  for (int k = 0; k < kMaxNodesOfThread; ++k) {
    if ((owned >> k & 1U) == 0) continue;
    const int index = static_cast<int>(threadIdx.x) + k * kResidentThreads;
    const std::int64_t at = brick.index_in_mesh(g.axis, brick.node_at(index));
    g.v.p[at] = u[index];
    g.v.r[at] = q[index];
    g.v.x[at] += step.get(k, index);
  }
}

// Sets what depends on the matrices.
template <int P>
__device__ void set_ends(const ResidentArguments<P>& g, BlockBrick& brick) {
  for (int d = 0; d < 3; ++d) {
    const EntryPair<double> corner = g.unit[d].entries[0];
    for (int side = 0; side < 2; ++side) {
      const double term = brick.shares[d][side] ? 0.0 : g.axis[d].end_term[side];
      brick.end[d][side] = {-corner.mass, term - corner.stiffness};
    }
  }
}

// See ResidentCg. Deterministic; sums depend on the bricks.
//
// Launch: cooperative, one block of kResidentThreads a brick, all shared memory that a block may
// have. p and q are in shared memory, r is in registers, and what is added to x is in shared memory
// as far as there is room. The L2 cache takes 8 B for each other entry of x, and what bricks
// exchange, 16 B a shared node. Two barriers of the grid an iteration. 7 (p + 2) FMAs a DoF along
// lines, 4 (p + 2) in 2D, and 5 of the vectors.
template <int dimension, int P>
__global__ void __launch_bounds__(kResidentThreads, 1)
    resident_cg_kernel(const __grid_constant__ ResidentArguments<P> g) {
  extern __shared__ __align__(16) double shared_memory[];
  IterationState* const state = g.state;
  if (state->status != DeviceStatus::running) return;
  const IterationLimits limits = *state;
  double rz = state->rz;
  int iteration = state->iteration;

  // One copy, as registers are few.
  __shared__ BlockBrick brick;
  if (threadIdx.x == 0) {
    brick = BlockBrick::of(g.axis, dimension, P, static_cast<int>(blockIdx.x));
    brick.shared = g.shared_count[blockIdx.x];
    set_ends(g, brick);
    CommonNodes<P>::set_faces(g, brick);
  }
  __syncthreads();
  double* const u = shared_memory;
  double* const q = u + brick.size;
  double* const scratch = q + brick.size + brick.behind_q;
  double* const table = scratch + scratch_values(dimension, P, brick.row, brick.nodes[1]);
  PassItems<dimension, P> items(brick, table);
  items.find(brick);
  double* const behind =
      table +
      table_values(dimension, P, {brick.nodes[0], brick.nodes[1], brick.nodes[2]}, brick.row);
  const Step step(behind, g.shared_values - static_cast<int>(behind - shared_memory),
                  g.step + static_cast<std::int64_t>(blockIdx.x) * g.max_nodes);
  double* const partial_rr = g.partial + gridDim.x;
  const CommonNodes<P> shared(g, brick);
  double r[kMaxNodesOfThread];
  const unsigned owned = load_vectors(g, brick, u, q);
  for_each_own(brick, [&](int k, int index) {
    r[k] = q[index];
    q[index] = 0.0;
    step.clear(k, index);
  });
  __syncthreads();

  __shared__ double total;
  __shared__ double of_warps[2][kWarps];
  auto grid = cooperative_groups::this_grid();
  for (int i = 0; i < g.iterations; ++i) {
    const double mine = apply_in_brick(g, brick, items, u, q, scratch);
    leave_sum(mine, of_warps[0], g.partial);
    shared.give(q);
    grid.sync();
    add_blocks(g.partial, &total);
    shared.take(q);
    __syncthreads();
    const double pq = total;
    if (is_bad(pq)) {
      if (is_first_thread()) state->status = status_of_bad(pq);
      break;
    }

    const double alpha = rz / pq;
    double rr = 0.0;
    for_each_own(brick, [&](int k, int index) {
      r[k] -= alpha * q[index];
      if ((owned >> k & 1U) != 0) rr += r[k] * r[k];
    });
    leave_sum(rr, of_warps[1], partial_rr);
    auto token = grid.barrier_arrive();
    for_each_own_group(
        brick, [&](int, int index) { return alpha * u[index]; },
        [&](int k, int index, double value) { step.add(k, index, value); });
    grid.barrier_wait(std::move(token));
    add_blocks(partial_rr, &total);
    __syncthreads();
    rr = total;
    const double beta = rr / rz;
    for_each_own_group(
        brick, [&](int k, int index) { return r[k] + beta * u[index]; },
        [&](int, int index, double value) { u[index] = value; });
    if (is_first_thread()) {
      finish_iteration(state, rr, alpha * rz);
      state->rz = rr;
    }
    rz = rr;
    ++iteration;
    if (status_after(limits, rr, iteration) != DeviceStatus::running) break;
    __syncthreads();
  }

  for_each_own(brick, [&](int k, int index) { q[index] = r[k]; });
  store_vectors(g, brick, owned, u, q, step);
}

template <int dimension, int P>
void launch_resident_degree(const ResidentData& data, const BrickCut& cut, int iterations,
                            const ResidentVectors<double>& vectors, IterationState* state) {
  const auto kernel = resident_cg_kernel<dimension, P>;
  ResidentArguments<P> arguments(data, iterations, vectors, state);
  const std::size_t shared = static_cast<std::size_t>(data.shared_values) * sizeof(double);
  allow_shared_memory(kernel, static_cast<std::int64_t>(shared));
  void* parameters[] = {&arguments};
  check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                         static_cast<unsigned>(cut.count()), kResidentThreads,
                                         parameters, shared, device_stream()),
             "resident conjugate gradients");
}

}  // namespace

template <int dimension>
void launch_resident_cg(const ResidentData& data, const BrickCut& cut, int iterations,
                        const ResidentVectors<double>& vectors, IterationState* state) {
  with_constant<1, kMaxFastDegree>(data.degree, [&]<int P>() {
    launch_resident_degree<dimension, P>(data, cut, iterations, vectors, state);
  });
}

}  // namespace tessera
