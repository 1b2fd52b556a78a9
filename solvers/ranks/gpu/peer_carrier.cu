// This file stores into the memory of other ranks' GPUs.
#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "solvers/check.hpp"
#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/cuda_owners.hpp"
#include "solvers/memory/device_array.hpp"
#include "solvers/memory/launch.cuh"
#include "solvers/ranks/gpu/peer_carrier.hpp"

namespace tessera {
namespace {

using Counter = unsigned long long;

constexpr int kThreads = 512;
/// Of a message, each with its own flags: as many as keep NVLink busy.
constexpr int kBlocks = 64;
constexpr int kSlots = 2;
constexpr std::int64_t kLargestChunk = std::int64_t{1} << 16;
constexpr std::int64_t kLeastChunk = std::int64_t{1} << 12;
/// Counters of different blocks lie in different sectors.
constexpr int kCounterStride = 4;
/// Numbers that go without a message's ways.
constexpr int kMostNumbers = 8;
/// What the first message may take.
constexpr double kPatienceSeconds = 20.0;

/// What a rank gives to one other: places for what that one stores, and words about it. The other
/// ones are the words of the rank that this one stores for.
struct Inbox {
  char slots[kBlocks][kSlots][kLargestChunk];
  Counter stored[kBlocks][kCounterStride];  // chunks that the other has stored here
  Counter taken[kBlocks]
               [kCounterStride];         // chunks that the other has taken of what was stored there
  double numbers[kSlots][kMostNumbers];  // to be added
  Counter added[kMostNumbers * kSlots];  // the first: how often the other has stored such numbers
};
static_assert(sizeof(Inbox) == peer_inbox_bytes(1));

/// How many chunks a rank has sent to another, and taken from it, in this rank's memory.
struct Counts {
  Counter sent[kBlocks];
  Counter taken[kBlocks];
  Counter added;  // numbers stored for the other
};

/// How a message of some bytes is cut, the same on both sides.
struct Cut {
  std::int64_t bytes;
  std::int64_t chunk;
  int blocks;

  static Cut of(std::int64_t bytes) {
    const std::int64_t even = (bytes / kBlocks + 16) / 16 * 16;
    const std::int64_t chunk = std::clamp(even, kLeastChunk, kLargestChunk);
    return {bytes, chunk,
            static_cast<int>(std::min<std::int64_t>((bytes + chunk - 1) / chunk, kBlocks))};
  }
  // The place of chunk number k of a block; past the end there is none.
  __device__ std::int64_t begin(int block, std::int64_t k) const {
    return block < blocks ? (k * blocks + block) * chunk : bytes;
  }
  __device__ std::int64_t length(std::int64_t begin) const {
    return begin + chunk < bytes ? chunk : bytes - begin;
  }
};

struct PeerMessage {
  const char* from;
  char* to;
  Cut sent;
  Cut received;
  Inbox* mine;    // what the other stores in
  Inbox* theirs;  // what this rank stores in
  Counts* counts;
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
  constexpr unsigned kLooksBetween = 1024;
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

// Sends and receives all messages. Up to kBlocks blocks of kThreads, all on the GPU at once; block
// b of a rank meets block b of the other. A chunk is stored when one of two places for it is free,
// and taken when its counter has come; each round stores before it takes, so that the rank that is
// the furthest behind never waits. Counters go on from launch to launch. Bytes: each is read twice
// and written twice, once over the link.
__global__ void __launch_bounds__(kThreads) exchange_kernel(const PeerMessages messages) {
  const int block = static_cast<int>(blockIdx.x);
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kLargestChunk;
  for (std::int64_t i = block * kLargestChunk; i < messages.own_bytes; i += stride) {
    copy_bytes(messages.own_to + i, messages.own_from + i,
               min(kLargestChunk, messages.own_bytes - i));
  }
  bool is_left = true;
  for (std::int64_t k = 0; is_left; ++k) {
    is_left = false;
    for (int m = 0; m < messages.count; ++m) {
      const PeerMessage& message = messages.all[m];
      const std::int64_t begin = message.sent.begin(block, k);
      if (begin >= message.sent.bytes) continue;
      is_left = true;
      Counter& sent = message.counts->sent[block];
      const Counter number =
          next_number(sent, message.mine->taken[block], kSlots, messages.is_given_up);
      if (number == kGivenUp) return;
      copy_bytes(message.theirs->slots[block][number % kSlots], message.from + begin,
                 message.sent.length(begin));
      __syncthreads();
      if (threadIdx.x != 0) continue;
      __threadfence_system();
      store_release(message.theirs->stored[block], number + 1);
      sent = number + 1;
    }
    for (int m = 0; m < messages.count; ++m) {
      const PeerMessage& message = messages.all[m];
      const std::int64_t begin = message.received.begin(block, k);
      if (begin >= message.received.bytes) continue;
      is_left = true;
      Counter& taken = message.counts->taken[block];
      const Counter number =
          next_number(taken, message.mine->stored[block], 0, messages.is_given_up);
      if (number == kGivenUp) return;
      copy_bytes(message.to + begin, message.mine->slots[block][number % kSlots],
                 message.received.length(begin));
      __syncthreads();
      if (threadIdx.x != 0) continue;
      __threadfence_system();
      store_release(message.theirs->taken[block], number + 1);
      taken = number + 1;
    }
  }
}

struct PeerNumbers {
  Inbox* mine[kMaxPeers];    // [rank]: what that one stores in; null: this rank
  Inbox* theirs[kMaxPeers];  // [rank]: what this rank stores in
  Counts* counts;            // [rank]
  int ranks;
  volatile int* is_given_up;
};

// sums[k] = the sum over ranks of their mine[k], in their order. One warp, a lane a rank. Of two
// places for numbers one is free: who stores for the second time after this has the numbers of all
// from the time between, and those come from ranks that have read these.
__global__ void add_numbers_kernel(const PeerNumbers peers, const double* mine, int count,
                                   double* sums) {
  __shared__ double all[kMaxPeers][kMostNumbers];
  const int rank = static_cast<int>(threadIdx.x);
  if (rank < peers.ranks && peers.mine[rank] == nullptr) {
    for (int k = 0; k < count; ++k) all[rank][k] = mine[k];
  } else if (rank < peers.ranks) {
    Counter& added = peers.counts[rank].added;
    const Counter number = added;
    for (int k = 0; k < count; ++k) {
      peers.theirs[rank]->numbers[number % kSlots][k] = mine[k];
    }
    __threadfence_system();
    store_release(peers.theirs[rank]->added, number + 1);
    added = number + 1;
    if (wait_for(peers.mine[rank]->added, number + 1, peers.is_given_up)) {
      for (int k = 0; k < count; ++k) {
        all[rank][k] = __ldcg(&peers.mine[rank]->numbers[number % kSlots][k]);
      }
    }
  }
  __syncwarp();
  if (rank >= count) return;
  double sum = 0.0;
  for (int r = 0; r < peers.ranks; ++r) sum += all[r][rank];
  sums[rank] = sum;
}

/// Memory of another process's GPU.
class OpenedMemory {
 public:
  OpenedMemory() = default;
  explicit OpenedMemory(const cudaIpcMemHandle_t& handle) {
    check_cuda(cudaIpcOpenMemHandle(&memory_, handle, cudaIpcMemLazyEnablePeerAccess),
               "opening the memory of another GPU");
  }
  ~OpenedMemory() {
    if (memory_ != nullptr) cudaIpcCloseMemHandle(memory_);
  }
  OpenedMemory(OpenedMemory&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  OpenedMemory& operator=(OpenedMemory&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }

  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

class PeerCarrier final : public DeviceCarrier {
 public:
  explicit PeerCarrier(const Communicator& ranks)
      : DeviceCarrier(ranks),
        inboxes_(static_cast<Inbox*>(allocate_on_device(inbox_bytes()))),
        counts_(ranks.size() * static_cast<std::int64_t>(sizeof(Counts))),
        is_given_up_(make_pinned(sizeof(int))) {
    zero_on_device(inboxes_, inbox_bytes());
    zero_on_device(counts_.data(), counts_.bytes());
    *given_up() = 0;
    synchronize_device();
  }
  // The inboxes stay until the process ends: others may just tell that they have taken something.
  ~PeerCarrier() override { cudaStreamSynchronize(device_stream()); }

  cudaIpcMemHandle_t handle() const {
    cudaIpcMemHandle_t handle{};
    check_cuda(cudaIpcGetMemHandle(&handle, inboxes_), "giving GPU memory to other processes");
    return handle;
  }
  void open(const std::vector<cudaIpcMemHandle_t>& handles) {
    opened_.resize(handles.size());
    for (std::size_t rank = 0; rank < handles.size(); ++rank) {
      if (static_cast<int>(rank) != ranks().rank()) opened_[rank] = OpenedMemory(handles[rank]);
    }
  }

  // Whether values come through, together with the other ranks.
  bool brings_values() const {
    const int count = ranks().size();
    const DeviceArray<double> mine(std::vector<double>(1, 1.0 + ranks().rank()));
    DeviceArray<double> all(count);
    all_gather(mine.data(), sizeof(double), all.data());
    const auto start = std::chrono::steady_clock::now();
    cudaError_t status = cudaErrorNotReady;
    while ((status = cudaStreamQuery(device_stream())) == cudaErrorNotReady) {
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      if (waited.count() > kPatienceSeconds) give_up();
    }
    check_cuda(status, "first message to another GPU");
    const std::vector<double> values = to_host(all);
    for (int rank = 0; rank < count; ++rank) {
      if (values[static_cast<std::size_t>(rank)] != 1.0 + rank) return false;
    }
    return true;
  }

  std::string name() const override { return "by stores into each other's memory"; }
  bool can_be_captured() const override { return true; }
  bool add(const double* mine, int count, double* sums) const override {
    if (count > kMostNumbers) return false;
    const OneUseAtATime::Use use(guard_);
    if (*given_up() != 0) throw DeviceError("other processes do not answer");
    PeerNumbers peers{};
    peers.counts = reinterpret_cast<Counts*>(counts_.data());
    peers.ranks = ranks().size();
    peers.is_given_up = given_up();
    for (int rank = 0; rank < ranks().size(); ++rank) {
      if (rank == ranks().rank()) continue;
      peers.mine[rank] = inboxes_ + rank;
      peers.theirs[rank] =
          static_cast<Inbox*>(opened_[static_cast<std::size_t>(rank)].get()) + ranks().rank();
    }
    constexpr unsigned kWarp = 32;
    launch(add_numbers_kernel, {"sums of all GPUs", 1, kWarp}, peers, mine, count, sums);
    return true;
  }
  void give_up() const noexcept override { *given_up() = 1; }

 private:
  std::int64_t inbox_bytes() const {
    return ranks().size() * static_cast<std::int64_t>(sizeof(Inbox));
  }
  int* given_up() const { return static_cast<int*>(is_given_up_.get()); }

  PeerMessage message_to(int rank, const void* from, void* to, std::int64_t sent,
                         std::int64_t received) const {
    TESSERA_CHECK(rank != ranks().rank());
    return {.from = static_cast<const char*>(from),
            .to = static_cast<char*>(to),
            .sent = Cut::of(sent),
            .received = Cut::of(received),
            .mine = inboxes_ + rank,
            .theirs =
                static_cast<Inbox*>(opened_[static_cast<std::size_t>(rank)].get()) + ranks().rank(),
            .counts = reinterpret_cast<Counts*>(counts_.data()) + rank};
  }

  void queue(const PeerMessages& messages) const {
    if (*given_up() != 0) throw DeviceError("other processes do not answer");
    int blocks = 1;
    for (int m = 0; m < messages.count; ++m) {
      blocks = std::max({blocks, messages.all[m].sent.blocks, messages.all[m].received.blocks});
    }
    launch(exchange_kernel, {"messages to other GPUs", static_cast<unsigned>(blocks), kThreads},
           messages);
  }

  void do_exchange(std::span<const DeviceMessage> messages) const override {
    const OneUseAtATime::Use use(guard_);
    PeerMessages queued{};
    queued.is_given_up = given_up();
    for (const DeviceMessage& message : messages) {
      TESSERA_CHECK(queued.count < kMaxPeers);
      queued.all[queued.count++] = message_to(message.rank, message.send, message.receive,
                                              message.bytes, message.received_bytes);
    }
    queue(queued);
  }

  void do_all_gather(const void* mine, std::int64_t bytes, void* all) const override {
    const OneUseAtATime::Use use(guard_);
    char* const places = static_cast<char*>(all);
    PeerMessages queued{};
    queued.is_given_up = given_up();
    queued.own_from = static_cast<const char*>(mine);
    queued.own_to = places + ranks().rank() * bytes;
    queued.own_bytes = bytes;
    for (int rank = 0; rank < ranks().size(); ++rank) {
      if (rank == ranks().rank()) continue;
      queued.all[queued.count++] = message_to(rank, mine, places + rank * bytes, bytes, bytes);
    }
    queue(queued);
  }

  Inbox* inboxes_;  // [rank that stores there]
  mutable DeviceArray<char> counts_;
  Pinned is_given_up_;
  std::vector<OpenedMemory> opened_;  // [rank]: its inboxes
  mutable OneUseAtATime guard_;
};

// What work() throws of the GPU in words, those of the lowest rank on all; empty if nothing.
template <class Work>
std::string failure_of_all(const Communicator& ranks, Work&& work) {
  std::string failure;
  try {
    work();
  } catch (const DeviceError& error) {
    failure = error.what();
    // What is wrong with peers is not wrong with this GPU.
    static_cast<void>(cudaGetLastError());
  }
  return ranks.agree(failure.empty() ? 0 : 1, failure).message;
}

}  // namespace

std::shared_ptr<const DeviceCarrier> make_peer_carrier(const Communicator& ranks,
                                                       std::string& why_not) {
  if (ranks.size() > kMaxPeers) {
    why_not = "more than " + std::to_string(kMaxPeers) + " processes";
    return nullptr;
  }
  std::shared_ptr<PeerCarrier> carrier;
  cudaIpcMemHandle_t mine{};
  why_not = failure_of_all(ranks, [&] {
    carrier = std::make_shared<PeerCarrier>(ranks);
    mine = carrier->handle();
  });
  if (!why_not.empty()) return nullptr;
  const std::vector<cudaIpcMemHandle_t> handles = ranks.all_gather(mine);
  why_not = failure_of_all(ranks, [&] { carrier->open(handles); });
  if (!why_not.empty()) return nullptr;
  why_not = failure_of_all(ranks, [&] {
    if (!carrier->brings_values()) throw DeviceError("GPUs do not see what others store");
  });
  return why_not.empty() ? carrier : nullptr;
}

}  // namespace tessera
