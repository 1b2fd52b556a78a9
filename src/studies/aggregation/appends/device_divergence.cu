// The kernels of appends from diverged threads.
#include <algorithm>
#include <cuda/barrier>

#include "operators/cells/append.cuh"
#include "solvers/memory/hashed_value.hpp"
#include "src/studies/aggregation/appends/device_divergence.hpp"
#include "src/studies/aggregation/message_check.cuh"

namespace tessera {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kOneIn = 20;
constexpr int kMost = DeviceDivergence::kMaxMessages;

/// How many messages a thread has.
struct CountOf {
  std::int64_t seed_offset;

  __device__ int operator()(std::int64_t thread) const {
    const std::uint64_t bits = hashed_bits(seed_offset + thread);
    // Of different bits.
    if ((bits >> 32U) % kOneIn != 0) return 0;
    return 1 + static_cast<int>(bits % kMost);
  }
};

__device__ unsigned message_of(std::int64_t thread, int n) {
  return static_cast<unsigned>(thread * kMost + n);
}

// A place that is not there is lost, and found missing.
struct Queue {
  unsigned* messages;
  ListSize* size;
  ListSize room;

  __device__ void write(ListSize place, unsigned message) const {
    if (place < room) messages[place] = message;
  }
};

__device__ void append_predicated(std::int64_t thread, int count, const Queue& queue) {
  __shared__ BlockAppend<kThreads>::Scratch scratch;
  __shared__ int most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  if (count > 0) atomicMax(&most, count);
  __syncthreads();
  const BlockAppend<kThreads> append(scratch);
  for (int n = 0; n < most; ++n) {
    const bool is_active = n < count;
    const Reserved reserved = append(appends_if(is_active), queue.size);
    if (is_active) queue.write(reserved.place, message_of(thread, n));
  }
}

__device__ void append_by_warps(std::int64_t thread, int count, const Queue& queue) {
  for (int n = 0; n < count; ++n) {
    queue.write(append_by_warp(queue.size).place, message_of(thread, n));
  }
}

// Threads that are together in a warp count themselves at once. Who is first in the block reserves
// for all between two meetings at the barrier. The counts take turns: that of the last round is set
// back while all are between the meetings of this one, when nobody needs it any more.
__device__ void append_at_barrier(std::int64_t thread, int count, const Queue& queue) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
#pragma nv_diag_default static_var_with_dynamic_init
  __shared__ unsigned counts[2];
  __shared__ ListSize first[2];
  if (threadIdx.x == 0) {
    init(&barrier, kThreads);
    counts[0] = 0;
    counts[1] = 0;
  }
  __syncthreads();
  for (int n = 0; n < count; ++n) {
    const unsigned turn = static_cast<unsigned>(n) % 2;
    const unsigned rank = append_in_block(turn, counts);
    barrier.arrive_and_wait();
    if (rank == 0) {
      first[turn] = atomicAdd(queue.size, ListSize{counts[turn]});
      counts[1 - turn] = 0;
    }
    barrier.arrive_and_wait();
    queue.write(first[turn] + rank, message_of(thread, n));
  }
  barrier.arrive_and_drop();
}

template <Divergence way>
__global__ void __launch_bounds__(kThreads) append_diverged(CountOf count_of, Queue queue) {
  const std::int64_t thread = thread_number<kThreads>();
  const int count = count_of(thread);
  if constexpr (way == Divergence::predicated) {
    append_predicated(thread, count, queue);
  } else if constexpr (way == Divergence::warp_append) {
    append_by_warps(thread, count, queue);
  } else {
    append_at_barrier(thread, count, queue);
  }
}

__global__ void __launch_bounds__(kThreads) read_queue(Queue queue, MessageMarks marks) {
  MessageTally tally;
  const auto held = static_cast<std::int64_t>(min(*queue.size, queue.room));
  for (std::int64_t i = thread_number<kThreads>(); i < held; i += thread_count<kThreads>()) {
    tally.note(marks, queue.messages[i]);
  }
  tally.finish(marks);
}

// A quarter more than the mean, and some for few threads.
std::int64_t queue_room(std::int64_t threads) {
  return threads / kOneIn * (kMost + 1) / 2 * 5 / 4 + 16384;
}

}  // namespace

DeviceDivergence::DeviceDivergence(std::int64_t threads, std::uint64_t seed)
    : threads_(threads), seed_(seed), queue_(queue_room(threads)), size_(1) {}

double DeviceDivergence::seconds(Divergence way) {
  const Queue queue = {queue_.data(), size_.data(), static_cast<ListSize>(queue_.size())};
  const CountOf count_of = {static_cast<std::int64_t>(seed_ << 40U)};
  const Launch as = {.name = "appending from diverged threads",
                     .blocks = dim3(blocks_for(threads_, kThreads)),
                     .threads = dim3(kThreads)};
  zero_on_device(queue_.data(), queue_.bytes());
  zero_on_device(size_.data(), size_.bytes());
  const auto append = [&](auto kernel) {
    stopwatch_.start();
    launch(kernel, as, count_of, queue);
    return stopwatch_.stop();
  };
  switch (way) {
    case Divergence::predicated:
      return append(append_diverged<Divergence::predicated>);
    case Divergence::warp_append:
      return append(append_diverged<Divergence::warp_append>);
    default:
      return append(append_diverged<Divergence::barrier>);
  }
}

MessageVerdict DeviceDivergence::verdict() {
  constexpr std::int64_t kMaxBlocks = 4096;
  const CountOf count_of = {static_cast<std::int64_t>(seed_ << 40U)};
  MessageCheck check(threads_ * kMost);
  launch(read_queue,
         {.name = "reading a queue",
          .blocks = dim3(blocks_for(queue_.size(), kThreads, kMaxBlocks)),
          .threads = dim3(kThreads)},
         Queue{queue_.data(), size_.data(), static_cast<ListSize>(queue_.size())}, check.view());
  return check.verdict([=] __device__(std::int64_t i) { return i % kMost < count_of(i / kMost); });
}

}  // namespace tessera
