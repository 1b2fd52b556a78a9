// This file packs planes on the GPU, and adds what comes.
#include "solvers/memory/entry_loop.cuh"
#include "solvers/memory/reduction.cuh"
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

// What came from the neighbors along an axis, which are two at most.
template <class T>
struct ReceivedPlanes {
  EntryPlane entries[2];
  const T* values[2];
  std::int64_t counts[2];
};

// y_i += what came for entry i; if asked for, *change = the sum of the y_i^2 after it less that
// before it. Launch: as reduction.cuh over all entries of the planes, which have none in common.
// Deterministic. Least bytes: 3 values an entry.
template <class T>
__global__ void __launch_bounds__(kReductionThreads)
    add_planes_kernel(T* y, const ReceivedPlanes<T> planes, double* change, Sums<1>* partial,
                      unsigned* arrived) {
  Sums<1> sum;
  const std::int64_t stride = thread_count<kReductionThreads>();
  for (std::int64_t i = thread_number<kReductionThreads>(); i < planes.counts[0] + planes.counts[1];
       i += stride) {
    const int side = i < planes.counts[0] ? 0 : 1;
    const std::int64_t within = side == 0 ? i : i - planes.counts[0];
    T& entry = y[entry_of(planes.entries[side], within)];
    const T before = entry;
    const T after = before + planes.values[side][within];
    entry = after;
    const auto wide_before = static_cast<double>(before);
    const auto wide_after = static_cast<double>(after);
    sum[0] += (wide_after - wide_before) * (wide_after + wide_before);
  }
  if (change == nullptr) return;
  reduce_over_grid(sum, partial, arrived, [=](const Sums<1>& total) { *change = total[0]; });
}

}  // namespace

template <class T>
struct PlaneExchange<T, Device>::ChangeSums : ReductionBuffer<1> {};

template <class T>
PlaneExchange<T, Device>::PlaneExchange(PlaneExchange&&) noexcept = default;
template <class T>
PlaneExchange<T, Device>& PlaneExchange<T, Device>::operator=(PlaneExchange&&) noexcept = default;
template <class T>
PlaneExchange<T, Device>::~PlaneExchange() = default;

template <class T>
PlaneExchange<T, Device>::PlaneExchange(std::shared_ptr<const DeviceCarrier> carrier,
                                        const SharedPlanes& planes)
    : carrier_(std::move(carrier)), sums_(std::make_unique<ChangeSums>()) {
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
void PlaneExchange<T, Device>::add(DeviceVector<T>& y, double* change) const {
  const OneUseAtATime::Use use(guard_);
  T* const values = y.data();
  std::vector<DeviceMessage> messages;
  for (std::size_t axis = 0; axis < sides_.size(); ++axis) {
    std::vector<Side>& sides = sides_[axis];
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
    ReceivedPlanes<T> planes{};
    for (std::size_t s = 0; s < sides.size(); ++s) {
      planes.entries[s] = sides[s].plane.entries;
      planes.values[s] = sides[s].received.data();
      planes.counts[s] = sides[s].plane.entries.count();
    }
    launch(add_planes_kernel<T>,
           reduction_launch("adding planes of other ranks", planes.counts[0] + planes.counts[1]),
           values, planes, change == nullptr ? nullptr : change + axis, sums_->partial(),
           sums_->arrived());
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
