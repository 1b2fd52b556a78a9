// A DeviceCarrier moves values between the GPUs of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "solvers/ranks/communicator.hpp"
#include "solvers/ranks/shared_entries.hpp"

namespace tessera {

/// Bytes in GPU memory to one rank, and those that it sends here: as many, unless said otherwise.
struct DeviceMessage {
  int rank;
  const void* send;
  void* receive;
  std::int64_t bytes;
  std::int64_t received_bytes = bytes;
};

/// The scalar products of x and y of all ranks, y being the sum of what each of them has. All
/// pointers are to GPU memory.
template <class T>
struct PlaneSums {
  const double* own;  // {x.y, y.y} of what this rank has of y
  const T* x;
  /// Entries that no neighbor adds to, and another rank counts.
  const std::int64_t* rows;
  std::int64_t row_count;
  const double* mine;  // to be added over ranks, too; or null
  double* sums;        // {x.y, y.y}, and the sum of *mine, over all ranks
};

/// What ranks that compute on GPUs tell each other by. All pointers are to GPU memory of the
/// calling rank. Work is in the order of device_stream(), and nobody has to wait for it: who reads
/// what came does so in the same stream. The functions are called as those of a Communicator:
/// all_gather() by all ranks in the same order, exchange() by both sides of every message.
class DeviceCarrier {
 public:
  virtual ~DeviceCarrier() = default;
  DeviceCarrier(const DeviceCarrier&) = delete;
  DeviceCarrier& operator=(const DeviceCarrier&) = delete;

  const Communicator& ranks() const { return ranks_; }
  /// How values go, in a few words.
  virtual std::string name() const = 0;
  /// Whether all work is queued, so that CUDA graphs can have it; else the host takes part in it.
  virtual bool can_be_captured() const = 0;

  /// @throws DeviceError
  void exchange(std::span<const DeviceMessage> messages) const {
    if (!messages.empty()) do_exchange(messages);
  }
  /// all = the bytes of rank 0, of rank 1, ...: as many of each. @throws DeviceError
  void all_gather(const void* mine, std::int64_t bytes, void* all) const {
    if (bytes > 0) do_all_gather(mine, bytes, all);
  }
  /// Queues sums = the `count` numbers of all ranks added in their order, if this carrier has a way
  /// for so few that is shorter than all_gather(); else it does nothing and returns false. All
  /// ranks get the same answer. @throws DeviceError
  virtual bool add(const double* /*mine*/, int /*count*/, double* /*sums*/) const { return false; }
  /// Queues y_i += what the neighbors have there, on the planes along an axis, if this carrier adds
  /// while it carries; else it does nothing and returns false, on all ranks. With sums, ranks are
  /// slabs, of which the lower one counts a plane that two have. @throws DeviceError
  bool add_planes(std::span<const SharedPlane> planes, float* y,
                  const PlaneSums<float>* sums = nullptr) const {
    return do_add_planes(planes, y, sums);
  }
  bool add_planes(std::span<const SharedPlane> planes, double* y,
                  const PlaneSums<double>* sums = nullptr) const {
    return do_add_planes(planes, y, sums);
  }
  /// Ends what other ranks do not answer, so that waiting for the GPU ends; nothing can be carried
  /// afterwards.
  virtual void give_up() const noexcept {}

 protected:
  /// @param ranks must outlive this object
  explicit DeviceCarrier(const Communicator& ranks) : ranks_(ranks) {}

 private:
  virtual void do_exchange(std::span<const DeviceMessage> messages) const = 0;
  virtual void do_all_gather(const void* mine, std::int64_t bytes, void* all) const = 0;
  virtual bool do_add_planes(std::span<const SharedPlane> /*planes*/, float* /*y*/,
                             const PlaneSums<float>* /*sums*/) const {
    return false;
  }
  virtual bool do_add_planes(std::span<const SharedPlane> /*planes*/, double* /*y*/,
                             const PlaneSums<double>* /*sums*/) const {
    return false;
  }

  const Communicator& ranks_;
};

/// Carries by way of the host's page-locked memory and a communicator, whatever that is: the host
/// waits for the GPU in each call. Ranks may share a GPU. One object for each rank.
/// @param ranks must outlive the carrier
std::shared_ptr<const DeviceCarrier> make_staged_carrier(const Communicator& ranks);

}  // namespace tessera
