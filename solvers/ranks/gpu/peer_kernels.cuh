// These kernels store into the memory of other ranks' GPUs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "solvers/memory/launch.cuh"
#include "solvers/memory/warp.cuh"
#include "solvers/ranks/gpu/numbered_words.cuh"
#include "solvers/ranks/gpu/peer_carrier.hpp"

namespace tessera {
namespace {

// The kernels of peer_carrier.cu, which alone includes this.

constexpr int kThreads = 512;
constexpr int kSlots = 2;
constexpr std::int64_t kMinChunk = std::int64_t{1} << 12;
/// Counters of different blocks lie in different sectors.
constexpr int kCounterStride = 4;
/// Numbers that go without a message's ways.
constexpr int kMaxNumbers = 8;

/// As many blocks as keep NVLink busy, and leave multiprocessors to what runs beside: some send,
/// others receive.
constexpr int kMessageBlocks = 32;
constexpr int kRoles = 2;
constexpr std::int64_t kLargestChunk = std::int64_t{1} << 17;
/// For planes all others wait.
constexpr int kPlaneBlocks = 128;
/// The words of a plane that a thread has in flight.
constexpr int kWordsAThread = 4;

/// What a rank gives to one other: places for what that one stores, and its words about it. Each
/// block has its own.
struct Inbox {
  char slots[kMessageBlocks][kSlots][kLargestChunk];
  Counter stored[kMessageBlocks][kCounterStride];  // chunks that the other has stored here
  Counter taken[kMessageBlocks][kCounterStride];   // those it has taken of what was stored there
  NumberedWord planes[kPlaneBlocks][kSlots][kWordsAThread * kThreads];
  NumberedWord numbers[kSlots][kMaxNumbers];  // to be added
};
static_assert(sizeof(Inbox) == peer_inbox_bytes(1));

/// How far a rank is with one other, in this rank's memory.
struct Counts {
  Counter sent[kMessageBlocks];   // chunks
  Counter taken[kMessageBlocks];  // chunks
  Counter planes[kPlaneBlocks];   // rounds of words
  Counter numbers;                // that were added
};

/// How a message of some bytes is cut, the same on both sides.
struct Cut {
  std::int64_t bytes;
  std::int64_t chunk;
  int blocks;

  static Cut of(std::int64_t bytes) {
    const std::int64_t even = (bytes / kMessageBlocks + 16) / 16 * 16;
    const std::int64_t chunk = std::clamp(even, kMinChunk, kLargestChunk);
    return {bytes, chunk,
            static_cast<int>(std::min<std::int64_t>((bytes + chunk - 1) / chunk, kMessageBlocks))};
  }
  // The place of chunk number k of a block; past the end there is none.
  __device__ std::int64_t begin(int block, std::int64_t k) const {
    return block < blocks ? (k * blocks + block) * chunk : bytes;
  }
  __device__ std::int64_t length(std::int64_t begin) const {
    return begin + chunk < bytes ? chunk : bytes - begin;
  }
};

__device__ Counter load_acquire(const Counter* counter) {
  Counter value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(counter) : "memory");
  return value;
}

__device__ void store_release(Counter* counter, Counter value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" : : "l"(counter), "l"(value) : "memory");
}

// Whether the counter has got that far, before all was given up.
__device__ bool wait_for(const Counter* counter, Counter least, const volatile int* is_given_up) {
  for (unsigned looks = 1;; ++looks) {
    if (load_acquire(counter) >= least) return true;
    if (looks % kLooksBetween == 0 && *is_given_up != 0) return false;
  }
}

template <class Word>
__device__ void copy_words(char* to, const char* from, std::int64_t bytes) {
  auto* const out = reinterpret_cast<Word*>(to);
  const auto* const in = reinterpret_cast<const Word*>(from);
  const auto count = static_cast<int>(bytes / static_cast<std::int64_t>(sizeof(Word)));
  constexpr int kInFlight = 4;
  for (int first = static_cast<int>(threadIdx.x); first < count; first += kInFlight * kThreads) {
    Word words[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      // Past the first-level cache, which does not know what another GPU has stored.
      if (first + k * kThreads < count) words[k] = __ldcg(in + first + k * kThreads);
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (first + k * kThreads < count) out[first + k * kThreads] = words[k];
    }
  }
}

// By the threads of a block, in the widest words that the places allow.
__device__ void copy_bytes(char* to, const char* from, std::int64_t bytes) {
  const auto places = reinterpret_cast<std::uintptr_t>(to) |
                      reinterpret_cast<std::uintptr_t>(from) | static_cast<std::uintptr_t>(bytes);
  if (places % 16 == 0) {
    copy_words<uint4>(to, from, bytes);
  } else if (places % 8 == 0) {
    copy_words<uint2>(to, from, bytes);
  } else if (places % 4 == 0) {
    copy_words<unsigned>(to, from, bytes);
  } else {
    copy_words<unsigned char>(to, from, bytes);
  }
}

// After all threads of a block have stored or read: the counter of the other rank says so, and this
// rank's own.
__device__ void tell(Counter* theirs, Counter& own, Counter value) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();
  store_release(theirs, value);
  own = value;
}

/// No chunk has this number.
constexpr Counter kGivenUp = ~Counter{0};

// The number of a block's next chunk, for all of its threads, when counter >= number + 1 - behind;
// kGivenUp if that does not come.
__device__ Counter next_number(const Counter& next, const Counter* counter, Counter behind,
                               const volatile int* is_given_up) {
  __shared__ Counter said;
  __syncthreads();
  if (threadIdx.x == 0) {
    const Counter number = next;
    const bool has_come =
        number + 1 <= behind || wait_for(counter, number + 1 - behind, is_given_up);
    said = has_come ? number : kGivenUp;
  }
  __syncthreads();
  return said;
}

/// A rank's way to another one, chunk by chunk; each block has its own.
struct Link {
  Inbox* mine;    // what the other stores in
  Inbox* theirs;  // what this rank stores in
  Counts* counts;

  // Calls store(place) for the next chunk to the other rank when one of two places for it is free;
  // false if that does not come.
  template <class Store>
  __device__ bool send(int block, const volatile int* is_given_up, Store&& store) const {
    Counter& sent = counts->sent[block];
    const Counter number = next_number(sent, mine->taken[block], kSlots, is_given_up);
    if (number == kGivenUp) return false;
    store(theirs->slots[block][number % kSlots]);
    tell(theirs->stored[block], sent, number + 1);
    return true;
  }
  // Calls take(place) for the next chunk of the other rank when it has come; false if it does not.
  template <class Take>
  __device__ bool receive(int block, const volatile int* is_given_up, Take&& take) const {
    Counter& taken = counts->taken[block];
    const Counter number = next_number(taken, mine->stored[block], 0, is_given_up);
    if (number == kGivenUp) return false;
    take(mine->slots[block][number % kSlots]);
    tell(theirs->taken[block], taken, number + 1);
    return true;
  }
};

struct PeerMessage {
  const char* from;
  char* to;
  Cut sent;
  Cut received;
  Link link;
};

struct PeerMessages {
  PeerMessage all[kMaxPeers];
  int count;
  // What a rank sends to itself.
  const char* own_from;
  char* own_to;
  std::int64_t own_bytes;
  volatile int* is_given_up;
};

// Sends and receives all messages. Launch: for each message, by turns, up to 32 blocks of kThreads
// that send and as many that receive; block b of a message meets block b of the other rank's, and
// waits for no other. A chunk is stored when one of two places for it is free, and taken when its
// counter has come. Counters go on from launch to launch. Bytes: each is read twice and written
// twice, once over the link.
__global__ void __launch_bounds__(kThreads) exchange_kernel(const PeerMessages messages) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kLargestChunk;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kLargestChunk;
       i < messages.own_bytes; i += stride) {
    copy_bytes(messages.own_to + i, messages.own_from + i,
               min(kLargestChunk, messages.own_bytes - i));
  }
  if (messages.count == 0) return;
  const PeerMessage& message = messages.all[static_cast<int>(blockIdx.x) % messages.count];
  const int block = static_cast<int>(blockIdx.x) / messages.count / kRoles;
  const bool sends = static_cast<int>(blockIdx.x) / messages.count % kRoles == 0;
  const Cut& cut = sends ? message.sent : message.received;
  for (std::int64_t k = 0; cut.begin(block, k) < cut.bytes; ++k) {
    const std::int64_t begin = cut.begin(block, k);
    const std::int64_t length = cut.length(begin);
    const bool has_come =
        sends ? message.link.send(
                    block, messages.is_given_up,
                    [&](char* place) { copy_bytes(place, message.from + begin, length); })
              : message.link.receive(block, messages.is_given_up, [&](const char* place) {
                  copy_bytes(message.to + begin, place, length);
                });
    if (!has_come) return;
  }
}

struct PeerNumbers {
  Link links[kMaxPeers];  // [rank]; none to this rank
  int ranks;
  int own;  // this rank
  const volatile int* is_given_up;
};

// sums[k] = the sum over ranks of their mine[k], in their order; by a warp, of which lane r has to
// do with rank r. Of two places for numbers one is free: who stores for the second time after this
// has the numbers of all from the time between, and those come from ranks that have read these.
__device__ void add_numbers(const PeerNumbers& peers, const double* mine, int count, double* sums) {
  const int rank = static_cast<int>(threadIdx.x);
  const bool is_other = rank < peers.ranks && rank != peers.own;
  NumberedWord words[kMaxNumbers];
  if (is_other) {
    const Link& link = peers.links[rank];
    const Counter number = link.counts->numbers + 1;
    for (int k = 0; k < count; ++k) {
      store_word(&link.theirs->numbers[number % kSlots][k],
                 {static_cast<Counter>(__double_as_longlong(mine[k])), number});
    }
    load_words<kMaxNumbers>(words, link.mine->numbers[number % kSlots], 1, count, number,
                            peers.is_given_up);
    link.counts->numbers = number;
  }
#pragma unroll
  for (int k = 0; k < kMaxNumbers; ++k) {
    if (k >= count) break;
    const double value =
        is_other ? __longlong_as_double(static_cast<long long>(words[k].bits)) : mine[k];
    double total = 0.0;
    for (int r = 0; r < peers.ranks; ++r) total += __shfl_sync(kAllLanes, value, r);
    if (rank == 0) sums[k] = total;
  }
}

// The same as a kernel of one warp.
__global__ void add_numbers_kernel(const PeerNumbers peers, const double* mine, int count,
                                   double* sums) {
  add_numbers(peers, mine, count, sums);
}

}  // namespace
}  // namespace tessera
