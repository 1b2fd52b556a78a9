// This file loads NCCL at run time and sends by it.
#include "solvers/ranks/gpu/nccl_carrier.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "solvers/check.hpp"
#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {
namespace {

// The declarations of nccl.h that are needed, so that no build asks for that file.
struct Nccl {
  using Comm = struct ncclComm*;
  using Result = int;
  using DataType = int;
  struct UniqueId {
    std::array<char, 128> internal;
  };
  static constexpr Result kSuccess = 0;
  static constexpr DataType kBytes = 0;  // ncclInt8

  void* library = nullptr;
  Result (*version)(int*) = nullptr;
  Result (*unique_id)(UniqueId*) = nullptr;
  Result (*init)(Comm*, int, UniqueId, int) = nullptr;
  Result (*destroy)(Comm) = nullptr;
  Result (*abort)(Comm) = nullptr;
  const char* (*error_text)(Result) = nullptr;
  Result (*group_start)() = nullptr;
  Result (*group_end)() = nullptr;
  Result (*send)(const void*, std::size_t, DataType, int, Comm, cudaStream_t) = nullptr;
  Result (*receive)(void*, std::size_t, DataType, int, Comm, cudaStream_t) = nullptr;
  Result (*all_gather)(const void*, void*, std::size_t, DataType, Comm, cudaStream_t) = nullptr;

  Nccl() = default;
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;
  // The library stays: what it has begun in the background may still run.
  ~Nccl() = default;

  template <class F>
  bool find(const char* name, F*& function) const {
    function = reinterpret_cast<F*>(dlsym(library, name));
    return function != nullptr;
  }
  bool load(const std::string& file) {
    library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    return library != nullptr && find("ncclGetVersion", version) &&
           find("ncclGetUniqueId", unique_id) && find("ncclCommInitRank", init) &&
           find("ncclCommDestroy", destroy) && find("ncclCommAbort", abort) &&
           find("ncclGetErrorString", error_text) && find("ncclGroupStart", group_start) &&
           find("ncclGroupEnd", group_end) && find("ncclSend", send) && find("ncclRecv", receive) &&
           find("ncclAllGather", all_gather);
  }
};

std::string version_text(const Nccl& nccl) {
  int version = 0;
  if (nccl.version(&version) != Nccl::kSuccess) return "NCCL";
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

class NcclCarrier final : public DeviceCarrier {
 public:
  NcclCarrier(const Communicator& ranks, std::unique_ptr<Nccl> nccl)
      : DeviceCarrier(ranks), nccl_(std::move(nccl)) {}
  ~NcclCarrier() override {
    if (comm_ == nullptr) return;
    // Where others may be gone, waiting for them would take for ever.
    if (std::uncaught_exceptions() > 0) {
      nccl_->abort(comm_);
    } else {
      cudaStreamSynchronize(device_stream());
      nccl_->destroy(comm_);
    }
  }

  // Together with the other ranks. Returns why not; empty if it is done.
  std::string connect(const Nccl::UniqueId& id) {
    const Nccl::Result result = nccl_->init(&comm_, ranks().size(), id, ranks().rank());
    if (result != Nccl::kSuccess) {
      comm_ = nullptr;
      return version_text(*nccl_) + ": " + nccl_->error_text(result);
    }
    try {
      send_first_messages();
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "";
  }

  std::string name() const override { return "by " + version_text(*nccl_); }
  bool can_be_captured() const override { return true; }
  // NCCL's kernels end soon after it has begun to abort. It returns when all graphs that have such
  // kernels are gone, for which nobody waits here.
  void give_up() const noexcept override {
    if (comm_ == nullptr) return;
    try {
      std::thread([abort = nccl_->abort, comm = std::exchange(comm_, nullptr)] {
        abort(comm);
      }).detach();
    } catch (const std::system_error&) {
      // The process ends in any case.
    }
  }

 private:
  void do_exchange(std::span<const DeviceMessage> messages) const override {
    require_comm();
    check(nccl_->group_start());
    for (const DeviceMessage& message : messages) {
      const auto sent = static_cast<std::size_t>(message.bytes);
      const auto received = static_cast<std::size_t>(message.received_bytes);
      if (sent > 0) {
        check(nccl_->send(message.send, sent, Nccl::kBytes, message.rank, comm_, device_stream()));
      }
      if (received > 0) {
        check(nccl_->receive(message.receive, received, Nccl::kBytes, message.rank, comm_,
                             device_stream()));
      }
    }
    check(nccl_->group_end());
  }
  void do_all_gather(const void* mine, std::int64_t bytes, void* all) const override {
    require_comm();
    check(nccl_->all_gather(mine, all, static_cast<std::size_t>(bytes), Nccl::kBytes, comm_,
                            device_stream()));
  }

  // With these NCCL connects GPUs and loads its kernels, which takes as long as a solve.
  void send_first_messages() const {
    const int count = ranks().size();
    const DeviceArray<double> sent(count);
    DeviceArray<double> received(count);
    zero_on_device(received.data(), received.bytes());
    std::vector<DeviceMessage> messages;
    for (int rank = 0; rank < count; ++rank) {
      if (rank == ranks().rank()) continue;
      messages.push_back({rank, sent.data() + rank, received.data() + rank, sizeof(double)});
    }
    exchange(messages);
    all_gather(sent.data(), sizeof(double), received.data());
    synchronize_device();
  }

  void require_comm() const {
    if (comm_ == nullptr) throw DeviceError("NCCL was given up: other processes do not answer");
  }
  void check(Nccl::Result result) const {
    if (result == Nccl::kSuccess) return;
    throw DeviceError(version_text(*nccl_) + ": " + nccl_->error_text(result));
  }

  std::unique_ptr<Nccl> nccl_;
  mutable Nccl::Comm comm_ = nullptr;
};

// The first rank's reason that is one, on all ranks.
std::string first_reason(const Communicator& ranks, const std::string& mine) {
  return ranks.agree(mine.empty() ? 0 : 1, mine).message;
}

}  // namespace

std::shared_ptr<const DeviceCarrier> make_nccl_carrier(const Communicator& ranks,
                                                       const std::string& library,
                                                       std::string& why_not) {
  // Before the first call; what the user has set stays.
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  auto nccl = std::make_unique<Nccl>();
  why_not = first_reason(ranks, nccl->load(library) ? "" : "no NCCL (" + library + ")");
  if (!why_not.empty()) return nullptr;
  TESSERA_CHECK(nccl->unique_id != nullptr && nccl->error_text != nullptr);
  Nccl::UniqueId id{};
  if (ranks.rank() == 0) {
    const Nccl::Result result = nccl->unique_id(&id);
    if (result != Nccl::kSuccess) why_not = std::string("NCCL: ") + nccl->error_text(result);
  }
  why_not = first_reason(ranks, why_not);
  if (!why_not.empty()) return nullptr;
  ranks.broadcast(std::as_writable_bytes(std::span(&id, 1)));
  // Some do not have it yet, and would miss the first words of those that have.
  ranks.barrier();
  auto carrier = std::make_shared<NcclCarrier>(ranks, std::move(nccl));
  why_not = first_reason(ranks, carrier->connect(id));
  if (why_not.empty()) return carrier;
  carrier->give_up();
  return nullptr;
}

}  // namespace tessera
