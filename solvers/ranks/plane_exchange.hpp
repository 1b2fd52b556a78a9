// A PlaneExchange sums the entries that ranks share.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "solvers/check.hpp"
#include "solvers/memory/vector.hpp"
#include "solvers/ranks/gpu/device_carrier.hpp"
#include "solvers/ranks/shared_entries.hpp"

namespace tessera {

/// The planes that a rank shares along each axis, at most one with a lower and one with an upper
/// neighbor; planes of two axes may cross.
using SharedPlanes = std::array<std::vector<SharedPlane>, 3>;

/// Sums the values of shared entries over all ranks that have them: whole planes along x, then y,
/// then z, so that entries on edges and corners get all contributions as well. Each sharer computes
/// mine + theirs, which is the same in either order: all have the same bits in the end.
template <class T, class Space>
class PlaneExchange;

template <class T>
class PlaneExchange<T, Host> {
 public:
  /// @param ranks must outlive this object
  PlaneExchange(const Communicator& ranks, const SharedPlanes& planes);

  /// y_i = sum over the ranks that have entry i of their y_i. All ranks call it together.
  void add(HostVector<T>& y) const;
  /// Memory of the buffers for messages.
  std::int64_t bytes() const;

 private:
  // A plane with what goes to the neighbor, and what comes from it.
  struct Side {
    SharedPlane plane;
    std::vector<T> sent;
    std::vector<T> received;
  };

  const Communicator& ranks_;
  mutable std::array<std::vector<Side>, 3> sides_;
  mutable OneUseAtATime guard_;
};

/// The same for vectors on GPUs, queued: it can be captured where the carrier's messages can be. A
/// plane whose entries are next to each other is sent from where it is.
template <class T>
class PlaneExchange<T, Device> {
 public:
  /// @param carrier of the ranks; null for a single one
  PlaneExchange(std::shared_ptr<const DeviceCarrier> carrier, const SharedPlanes& planes);

  /// As on the host. @throws DeviceError
  void add(DeviceVector<T>& y) const { add(y, nullptr); }
  /// The same, and change[axis] = what this adds along the axis to the sum of all y_i^2 of this
  /// rank; nothing along an axis without neighbors.
  /// @param change 3 numbers in GPU memory, or null
  void add(DeviceVector<T>& y, double* change) const;
  /// As add(y), and the sums of all ranks, if the carrier does all of it in one go and the ranks
  /// are slabs; else it does nothing and returns false, on all ranks. @throws DeviceError
  bool add_with_sums(DeviceVector<T>& y, const PlaneSums<T>& sums) const;
  std::int64_t bytes() const;

  PlaneExchange(PlaneExchange&&) noexcept;
  PlaneExchange& operator=(PlaneExchange&&) noexcept;
  ~PlaneExchange();

 private:
  struct ChangeSums;  // of blocks
  struct Side {
    DeviceArray<T> sent;  // empty if the plane is sent from where it is
    DeviceArray<T> received;
  };

  void add_by_messages(T* y, std::size_t axis, double* change) const;

  std::shared_ptr<const DeviceCarrier> carrier_;
  SharedPlanes planes_;                             // without those that have no entries
  mutable std::array<std::vector<Side>, 3> sides_;  // [axis][as planes_]
  std::unique_ptr<ChangeSums> sums_;
  mutable OneUseAtATime guard_;
};

/// x_i = 0 where another rank owns entry i: what is left is a summand of the vector of all ranks.
template <class T>
void clear_not_owned(HostVector<T>& x);
template <class T>
void clear_not_owned(DeviceVector<T>& x);

}  // namespace tessera
