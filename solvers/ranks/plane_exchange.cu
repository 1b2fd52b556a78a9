// This file packs planes on the GPU, and adds what comes.
#include "solvers/memory/entry_loop.cuh"
#include "solvers/ranks/gpu/device_carrier.hpp"
#include "solvers/ranks/plane_exchange.hpp"

namespace tessera {
namespace {

// The entry of a plane's value number i, in the order of messages.
__device__ inline std::int64_t entry_of(const EntryPlane& plane, std::int64_t i) {
  const std::int64_t b = i / plane.counts[0];
  const std::int64_t a = i - b * plane.counts[0];
  return plane.first + a * plane.strides[0] + b * plane.strides[1];
}

bool is_contiguous(const EntryPlane& plane) {
  return plane.strides[0] == 1 && (plane.counts[1] == 1 || plane.strides[1] == plane.counts[0]);
}

}  // namespace

template <class T>
PlaneExchange<T, Device>::PlaneExchange(std::shared_ptr<const DeviceCarrier> carrier,
                                        const SharedPlanes& planes)
    : carrier_(std::move(carrier)) {
  for (std::size_t axis = 0; axis < planes.size(); ++axis) {
    for (const SharedPlane& plane : planes[axis]) {
      TESSERA_CHECK(carrier_ != nullptr);
      const std::int64_t count = plane.entries.count();
      // The neighbor has as few.
      if (count == 0) continue;
      sides_[axis].push_back(
          {plane, DeviceArray<T>(is_contiguous(plane.entries) ? 0 : count), DeviceArray<T>(count)});
    }
  }
}

template <class T>
void PlaneExchange<T, Device>::add(DeviceVector<T>& y) const {
  const OneUseAtATime::Use use(guard_);
  T* const values = y.data();
  std::vector<DeviceMessage> messages;
  for (std::vector<Side>& sides : sides_) {
    if (sides.empty()) continue;
    messages.clear();
    for (Side& side : sides) {
      const EntryPlane plane = side.plane.entries;
      const T* from = values + plane.first;
      if (side.sent.size() > 0) {
        T* const sent = side.sent.data();
        for_each_entry(plane.count(), "packing a plane for another rank",
                       [=] __device__(std::int64_t i) { sent[i] = values[entry_of(plane, i)]; });
        from = sent;
      }
      messages.push_back({side.plane.neighbor, from, side.received.data(), side.received.bytes()});
    }
    carrier_->exchange(messages);
    for (const Side& side : sides) {
      const EntryPlane plane = side.plane.entries;
      const T* const received = side.received.data();
      for_each_entry(plane.count(), "adding the plane of another rank",
                     [=] __device__(std::int64_t i) { values[entry_of(plane, i)] += received[i]; });
    }
  }
}

template <class T>
std::int64_t PlaneExchange<T, Device>::bytes() const {
  std::int64_t bytes = 0;
  for (const std::vector<Side>& sides : sides_) {
    for (const Side& side : sides) bytes += side.sent.bytes() + side.received.bytes();
  }
  return bytes;
}

template <class T>
void clear_not_owned(DeviceVector<T>& x) {
  if (x.layout().shared == nullptr) return;
  T* const values = x.data();
  for (const EntryPlane& plane : x.layout().shared->not_owned()) {
    for_each_entry(plane.count(), "clearing a plane of another rank",
                   [=] __device__(std::int64_t i) { values[entry_of(plane, i)] = T{0}; });
  }
}

template class PlaneExchange<double, Device>;
template class PlaneExchange<float, Device>;
template void clear_not_owned(DeviceVector<double>&);
template void clear_not_owned(DeviceVector<float>&);

}  // namespace tessera
