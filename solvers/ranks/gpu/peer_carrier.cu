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
#include "solvers/ranks/gpu/peer_kernels.cuh"
#include "solvers/ranks/gpu/peer_planes.cuh"

namespace tessera {
namespace {

/// What the first message may take.
constexpr double kPatienceSeconds = 20.0;

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
    if (count > kMaxNumbers) return false;
    const OneUseAtATime::Use use(guard_);
    check_answers();
    launch(add_numbers_kernel, {"sums of all GPUs", 1, kWarp}, numbers(), mine, count, sums);
    return true;
  }
  void give_up() const noexcept override { *given_up() = 1; }

 private:
  std::int64_t inbox_bytes() const {
    return ranks().size() * static_cast<std::int64_t>(sizeof(Inbox));
  }
  int* given_up() const { return static_cast<int*>(is_given_up_.get()); }
  void check_answers() const {
    if (*given_up() != 0) throw DeviceError("other processes do not answer");
  }
  // What this rank stores in at another one.
  Inbox* inbox_of(int rank) const {
    return static_cast<Inbox*>(opened_[static_cast<std::size_t>(rank)].get()) + ranks().rank();
  }

  Link link_to(int rank) const { return {inboxes_ + rank, inbox_of(rank), counts_of(rank)}; }
  PeerNumbers numbers() const {
    PeerNumbers peers{};
    peers.ranks = ranks().size();
    peers.own = ranks().rank();
    peers.is_given_up = given_up();
    for (int rank = 0; rank < peers.ranks; ++rank) {
      if (rank != peers.own) peers.links[rank] = link_to(rank);
    }
    return peers;
  }
  Counts* counts_of(int rank) const { return reinterpret_cast<Counts*>(counts_.data()) + rank; }

  PeerMessage message_to(int rank, const void* from, void* to, std::int64_t sent,
                         std::int64_t received) const {
    TESSERA_CHECK(rank != ranks().rank());
    return {.from = static_cast<const char*>(from),
            .to = static_cast<char*>(to),
            .sent = Cut::of(sent),
            .received = Cut::of(received),
            .link = link_to(rank)};
  }

  void queue(const PeerMessages& messages) const {
    check_answers();
    int blocks = 1;
    for (int m = 0; m < messages.count; ++m) {
      blocks = std::max({blocks, messages.all[m].sent.blocks, messages.all[m].received.blocks});
    }
    const auto of_all = static_cast<unsigned>(kRoles * blocks * std::max(messages.count, 1));
    launch(exchange_kernel, {"messages to other GPUs", of_all, kThreads}, messages);
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

  bool do_add_planes(std::span<const SharedPlane> planes, float* y,
                     const PlaneSums<float>* sums) const override {
    return queue_planes(planes, y, sums);
  }
  bool do_add_planes(std::span<const SharedPlane> planes, double* y,
                     const PlaneSums<double>* sums) const override {
    return queue_planes(planes, y, sums);
  }
  template <class T>
  bool queue_planes(std::span<const SharedPlane> planes, T* y, const PlaneSums<T>* sums) const {
    const OneUseAtATime::Use use(guard_);
    check_answers();
    PeerPlanes<T> queued{.y = y, .all = {}, .count = 0, .is_given_up = given_up()};
    int blocks = 1;
    for (const SharedPlane& plane : planes) {
      TESSERA_CHECK(queued.count < 2);
      const std::int64_t count = plane.entries.count();
      const WordCut cut = WordCut::of((count + kValuesAWord<T> - 1) / kValuesAWord<T>);
      blocks = std::max(blocks, cut.blocks);
      queued.all[queued.count++] = {.entries = NumberedPlane(plane.entries),
                                    .count = count,
                                    .cut = cut,
                                    .is_others = plane.neighbor < ranks().rank(),
                                    .link = link_to(plane.neighbor)};
    }
    const Launch as{"planes of other GPUs", static_cast<unsigned>(queued.count * blocks), kThreads};
    if (sums == nullptr) {
      launch(add_peer_planes_kernel<false, T>, as, queued, PlaneSums<T>{}, PeerNumbers{}, nullptr,
             nullptr);
    } else {
      launch(add_peer_planes_kernel<true, T>, as, queued, *sums, numbers(), sums_->partial(),
             sums_->arrived());
    }
    return true;
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
  std::unique_ptr<ReductionBuffer<2>> sums_ = std::make_unique<ReductionBuffer<2>>();
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
