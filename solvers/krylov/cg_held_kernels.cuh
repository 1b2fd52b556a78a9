// This kernel does the vector part of conjugate gradients where threads can hold their entries.
#pragma once

#include <cuda_pipeline.h>

#include "solvers/krylov/cg_kernels.cuh"

namespace tessera {
namespace {

// So many blocks a multiprocessor leave each thread 64 registers.
constexpr int kHeldBlocks = 2;

// The vector part of an iteration as iteration_kernel(), for vectors that all threads together can
// hold, `held` entries each: q and r in registers, p and x in shared memory, so that all of them
// are on their way at once and none is read twice. Launch: cooperative, blocks of held
// kUpdateThreads neighboring entries, all of them on the GPU at once; deterministic. Shared memory:
// held_bytes(). 7 vectors read or written, 2 more with a diagonal, 1 more where q is left as zeros.
template <PreconditionerKind kind, Product product, int held, class T>
__global__ void __launch_bounds__(kUpdateThreads, kHeldBlocks)
    held_iteration_kernel(const IterationArguments<T> args) {
  extern __shared__ __align__(16) unsigned char held_memory[];
  T* const p = reinterpret_cast<T*>(held_memory) + threadIdx.x;
  T* const x = p + held * kUpdateThreads;
  const Index first = static_cast<Index>(blockIdx.x) * (held * kUpdateThreads) + threadIdx.x;
  const int left = static_cast<int>(min(args.n - first, Index{held * kUpdateThreads}));
  // Calls f(k, entry) for the entries of this thread.
  const auto for_each = [&](auto&& f) {
#pragma unroll
    for (int k = 0; k < held; ++k) {
      if (k * kUpdateThreads < left) f(k, first + k * kUpdateThreads);
    }
  };
  T q[held];
  T r[held];
  for_each([&](int k, Index i) {
    __pipeline_memcpy_async(p + k * kUpdateThreads, args.p + i, sizeof(T));
  });
  __pipeline_commit();
  for_each([&](int k, Index i) { q[k] = args.q[i]; });
  for_each([&](int k, Index i) { r[k] = args.r[i]; });
  for_each([&](int k, Index i) {
    __pipeline_memcpy_async(x + k * kUpdateThreads, args.x + i, sizeof(T));
  });
  __pipeline_commit();

  IterationState* const state = args.state;
  if (state->status != DeviceStatus::running) return;
  UpdateSum over_grid(args.sums);
  const double rz = state->rz;
  __pipeline_wait_prior(1);
  Sums<2> sums;
  for_each([&](int k, Index /*i*/) {
    sums[0] += static_cast<double>(p[k * kUpdateThreads]) * static_cast<double>(q[k]);
  });
  const double pq = first_sum(sums, over_grid);
  if (ends_iteration(pq, state)) return;
  const T alpha = static_cast<T>(rz / pq);
  sums = {};
  for_each([&](int k, Index i) {
    r[k] -= alpha * q[k];
    args.r[i] = r[k];
    if constexpr (product == Product::added) args.q[i] = T{0};
    const double wide = static_cast<double>(r[k]);
    sums[0] += wide * wide;
    if constexpr (kind == PreconditionerKind::diagonal) {
      sums[1] += wide * static_cast<double>(args.d[i]) * wide;
    }
  });
  sums = residual_sums<kind>(sums, over_grid);
  const T beta = static_cast<T>(sums[1] / rz);
  __pipeline_wait_prior(0);
  for_each([&](int k, Index i) {
    const T before = p[k * kUpdateThreads];
    args.p[i] = (kind == PreconditionerKind::diagonal ? args.d[i] * r[k] : r[k]) + beta * before;
    __stcs(args.x + i, x[k * kUpdateThreads] + alpha * before);
  });
  if (!is_first_thread()) return;
  finish_iteration(state, sums[0], rz / pq * rz);
  state->rz = sums[1];
}

// The shared memory of a block that holds so many entries a thread.
template <class T>
constexpr std::size_t held_bytes(int held) {
  return static_cast<std::size_t>(2 * held) * kUpdateThreads * sizeof(T);
}

// The launch for n entries that holds the fewest a thread, and so keeps most multiprocessors busy;
// without a kernel where n is too large.
template <PreconditionerKind kind, Product product, class T>
UpdateLaunch<T> find_held_kernel(Index n) {
  UpdateLaunch<T> found;
  const auto try_with = [&]<int held>() {
    if (found.kernel != nullptr) return;
    const auto kernel = held_iteration_kernel<kind, product, held, T>;
    constexpr std::size_t kBytes = held_bytes<T>(held);
    allow_shared_memory(kernel, kBytes);
    const unsigned blocks = std::max(blocks_for(n, held * kUpdateThreads), 1U);
    const auto most = static_cast<unsigned>(most_update_blocks(kernel, kBytes));
    if (blocks <= most) found = {kernel, blocks, kBytes};
  };
  try_with.template operator()<4>();
  try_with.template operator()<8>();
  return found;
}

}  // namespace
}  // namespace tessera
