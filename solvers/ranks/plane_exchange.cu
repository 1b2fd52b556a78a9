// This file packs planes on the GPU, and adds what comes.
#include <algorithm>

#include "solvers/memory/entry_loop.cuh"
#include "solvers/memory/reduction.cuh"
#include "solvers/ranks/gpu/device_carrier.hpp"
#include "solvers/ranks/gpu/entry_planes.cuh"
#include "solvers/ranks/plane_exchange.hpp"

namespace tessera {
namespace {

// What came from the neighbors along an axis, which are two at most.
template <class T>
struct ReceivedPlanes {
  NumberedPlane entries[2];
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
    T& entry = y[planes.entries[side].entry(within)];
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

template <class T>
void pack(const T* y, const EntryPlane& plane, T* sent) {
  for_each_entry(plane.count(), "packing a plane for another rank",
                 [=, numbered = NumberedPlane(plane)] __device__(std::int64_t i) {
                   sent[i] = y[numbered.entry(i)];
                 });
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
      const bool is_contiguous = NumberedPlane(plane.entries).is_contiguous();
      planes_[axis].push_back(plane);
      sides_[axis].push_back({DeviceArray<T>(is_contiguous ? 0 : count), DeviceArray<T>(count)});
    }
  }
}

template <class T>
void PlaneExchange<T, Device>::add(DeviceVector<T>& y, double* change) const {
  const OneUseAtATime::Use use(guard_);
  for (std::size_t axis = 0; axis < planes_.size(); ++axis) {
    if (planes_[axis].empty()) continue;
    if (change == nullptr && carrier_->add_planes(planes_[axis], y.data())) continue;
    add_by_messages(y.data(), axis, change == nullptr ? nullptr : change + axis);
  }
}

template <class T>
bool PlaneExchange<T, Device>::add_with_sums(DeviceVector<T>& y, const PlaneSums<T>& sums) const {
  const OneUseAtATime::Use use(guard_);
  const auto is_crossed = [](const std::vector<SharedPlane>& planes) { return !planes.empty(); };
  if (std::count_if(planes_.begin(), planes_.end(), is_crossed) != 1) return false;
  return carrier_->add_planes(*std::find_if(planes_.begin(), planes_.end(), is_crossed), y.data(),
                              &sums);
}

template <class T>
void PlaneExchange<T, Device>::add_by_messages(T* y, std::size_t axis, double* change) const {
  const std::vector<SharedPlane>& shared = planes_[axis];
  std::vector<DeviceMessage> messages;
  ReceivedPlanes<T> planes{};
  for (std::size_t s = 0; s < shared.size(); ++s) {
    Side& side = sides_[axis][s];
    const T* from = y + shared[s].entries.first;
    if (side.sent.size() > 0) {
      pack(y, shared[s].entries, side.sent.data());
      from = side.sent.data();
    }
    messages.push_back({shared[s].neighbor, from, side.received.data(), side.received.bytes()});
    planes.entries[s] = NumberedPlane(shared[s].entries);
    planes.values[s] = side.received.data();
    planes.counts[s] = shared[s].entries.count();
  }
  carrier_->exchange(messages);
  launch(add_planes_kernel<T>,
         reduction_launch("adding planes of other ranks", planes.counts[0] + planes.counts[1]), y,
         planes, change, sums_->partial(), sums_->arrived());
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
  for (const EntryPlane& not_owned : x.layout().shared->not_owned()) {
    const NumberedPlane plane(not_owned);
    for_each_entry(not_owned.count(), "clearing a plane of another rank",
                   [=] __device__(std::int64_t i) { values[plane.entry(i)] = T{0}; });
  }
}

template class PlaneExchange<double, Device>;
template class PlaneExchange<float, Device>;
template void clear_not_owned(DeviceVector<double>&);
template void clear_not_owned(DeviceVector<float>&);

}  // namespace tessera
