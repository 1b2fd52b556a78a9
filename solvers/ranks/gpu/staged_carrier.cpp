// This file carries values between GPUs by way of the host.
#include <algorithm>
#include <vector>

#include "solvers/check.hpp"
#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/cuda_owners.hpp"
#include "solvers/ranks/gpu/device_carrier.hpp"

namespace tessera {
namespace {

// Page-locked memory that grows with what is asked for.
class Stage {
 public:
  std::byte* room_for(std::size_t bytes) {
    if (bytes > bytes_) {
      // A copy may still be on its way from what is freed.
      synchronize_device();
      memory_.reset();
      bytes_ = 0;
      memory_ = make_pinned(bytes);
      bytes_ = bytes;
    }
    return static_cast<std::byte*>(memory_.get());
  }

 private:
  Pinned memory_;
  std::size_t bytes_ = 0;
};

class StagedCarrier final : public DeviceCarrier {
 public:
  explicit StagedCarrier(const Communicator& ranks) : DeviceCarrier(ranks) {}
  ~StagedCarrier() override {
    // A copy may still read the stage.
    cudaStreamSynchronize(device_stream());
  }

  std::string name() const override { return "by way of the host"; }
  bool can_be_captured() const override { return false; }

 private:
  // Copies from a stage before have arrived when the stream has been waited for: only then is it
  // written to again. Messages of the host are as long in both directions.
  void do_exchange(std::span<const DeviceMessage> messages) const override {
    const OneUseAtATime::Use use(guard_);
    std::size_t bytes = 0;
    for (const DeviceMessage& message : messages) bytes += staged_bytes(message);
    std::byte* const sent = sent_.room_for(bytes);
    std::byte* const received = received_.room_for(bytes);
    std::vector<Message> staged;
    std::size_t at = 0;
    for (const DeviceMessage& message : messages) {
      const std::size_t count = staged_bytes(message);
      enqueue_copy(sent + at, message.send, static_cast<std::size_t>(message.bytes),
                   cudaMemcpyDeviceToHost, kName);
      staged.push_back({message.rank, {sent + at, count}, {received + at, count}});
      at += count;
    }
    synchronize_device();
    ranks().exchange(staged);
    for (std::size_t m = 0; m < messages.size(); ++m) {
      enqueue_copy(messages[m].receive, staged[m].receive.data(),
                   static_cast<std::size_t>(messages[m].received_bytes), cudaMemcpyHostToDevice,
                   kName);
    }
  }

  static std::size_t staged_bytes(const DeviceMessage& message) {
    return static_cast<std::size_t>(std::max(message.bytes, message.received_bytes));
  }

  void do_all_gather(const void* mine, std::int64_t bytes, void* all) const override {
    const OneUseAtATime::Use use(guard_);
    const auto count = static_cast<std::size_t>(bytes);
    const std::size_t of_all = count * static_cast<std::size_t>(ranks().size());
    std::byte* const sent = sent_.room_for(count);
    std::byte* const received = received_.room_for(of_all);
    enqueue_copy(sent, mine, count, cudaMemcpyDeviceToHost, kName);
    synchronize_device();
    ranks().all_gather({sent, count}, {received, of_all});
    enqueue_copy(all, received, of_all, cudaMemcpyHostToDevice, kName);
  }

  static constexpr char kName[] = "copying between GPU and host for another rank";

  mutable Stage sent_;
  mutable Stage received_;
  mutable OneUseAtATime guard_;
};

}  // namespace

std::shared_ptr<const DeviceCarrier> make_staged_carrier(const Communicator& ranks) {
  return std::make_shared<const StagedCarrier>(ranks);
}

}  // namespace tessera
