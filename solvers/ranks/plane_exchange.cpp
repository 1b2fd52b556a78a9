// This file packs planes, sends them, and adds what comes.
#include "solvers/ranks/plane_exchange.hpp"

namespace tessera {
namespace {

// Calls f(place in the buffer, entry), rows of large planes in parallel.
template <class F>
void for_each_entry(const EntryPlane& plane, F&& f) {
  constexpr std::int64_t kWorthThreads = 1 << 14;
#pragma omp parallel for schedule(static) if (plane.count() > kWorthThreads)
  for (std::int64_t b = 0; b < plane.counts[1]; ++b) {
    const std::int64_t row = b * plane.counts[0];
    for (std::int64_t a = 0; a < plane.counts[0]; ++a) f(row + a, plane.entry(a, b));
  }
}

}  // namespace

template <class T>
PlaneExchange<T, Host>::PlaneExchange(const Communicator& ranks, const SharedPlanes& planes)
    : ranks_(ranks) {
  for (std::size_t axis = 0; axis < planes.size(); ++axis) {
    for (const SharedPlane& plane : planes[axis]) {
      const auto count = static_cast<std::size_t>(plane.entries.count());
      // The neighbor has as few.
      if (count == 0) continue;
      sides_[axis].push_back({plane, std::vector<T>(count), std::vector<T>(count)});
    }
  }
}

template <class T>
void PlaneExchange<T, Host>::add(HostVector<T>& y) const {
  const OneUseAtATime::Use use(guard_);
  T* const values = y.data();
  std::vector<Message> messages;
  for (std::vector<Side>& sides : sides_) {
    messages.clear();
    for (Side& side : sides) {
      for_each_entry(side.plane.entries, [values, to = side.sent.data()](auto place, auto entry) {
        to[place] = values[entry];
      });
      messages.push_back({side.plane.neighbor, std::as_bytes(std::span(side.sent)),
                          std::as_writable_bytes(std::span(side.received))});
    }
    ranks_.exchange(messages);
    for (const Side& side : sides) {
      for_each_entry(side.plane.entries,
                     [values, from = side.received.data()](auto place, auto entry) {
                       values[entry] += from[place];
                     });
    }
  }
}

template <class T>
std::int64_t PlaneExchange<T, Host>::bytes() const {
  std::size_t count = 0;
  for (const std::vector<Side>& sides : sides_) {
    for (const Side& side : sides) count += side.sent.size() + side.received.size();
  }
  return static_cast<std::int64_t>(count * sizeof(T));
}

template <class T>
void clear_not_owned(HostVector<T>& x) {
  if (x.layout().shared == nullptr) return;
  for (const EntryPlane& plane : x.layout().shared->not_owned()) {
    for_each_entry(plane, [values = x.data()](auto, auto entry) { values[entry] = T{0}; });
  }
}

template class PlaneExchange<double, Host>;
template class PlaneExchange<float, Host>;
template void clear_not_owned(HostVector<double>&);
template void clear_not_owned(HostVector<float>&);

}  // namespace tessera
