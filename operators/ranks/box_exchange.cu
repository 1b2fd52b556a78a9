// This file packs boxes of nodes into messages between GPUs.
#include <utility>

#include "operators/ranks/box_exchange.hpp"
#include "solvers/check.hpp"
#include "solvers/memory/entry_loop.cuh"
#include "solvers/ranks/gpu/device_carrier.hpp"

namespace tessera {
namespace {

// Value number i of a box in the order of packed() to where it lies.
struct PlacedBox {
  Index row;
  Index rows;
  Index first;
  Index strides[2];

  PlacedBox(const NodeBox& box, const BoxPlaces& places)
      : row(box.extent(0)),
        rows(box.extent(1)),
        first(places.of(box.first)),
        strides{places.strides[0], places.strides[1]} {}

  __device__ Index of(Index i) const {
    const Index line = i / row;
    const Index plane = line / rows;
    return first + (i - line * row) + strides[0] * (line - plane * rows) + strides[1] * plane;
  }
};

// From one place to another.
template <class T>
void copy_box(const NodeBox& box, const T* in, const BoxPlaces& in_places, T* out,
              const BoxPlaces& out_places) {
  const PlacedBox from(box, in_places);
  const PlacedBox to(box, out_places);
  for_each_entry(box.size(), "copying a box of nodes",
                 [=] __device__(std::int64_t i) { out[to.of(i)] = in[from.of(i)]; });
}

}  // namespace

template <class T>
BoxExchange<T, Device>::BoxExchange(const Communicator& ranks,
                                    std::shared_ptr<const DeviceCarrier> carrier,
                                    const std::vector<NodeBox>& from,
                                    const std::vector<NodeBox>& to)
    : carrier_(std::move(carrier)) {
  const auto mine = static_cast<std::size_t>(ranks.rank());
  kept_ = intersection(from[mine], to[mine]);
  Index sent = 0;
  Index received = 0;
  for (std::size_t other = 0; other < from.size(); ++other) {
    if (other == mine) continue;
    const Partner partner{static_cast<int>(other), intersection(from[mine], to[other]),
                          intersection(from[other], to[mine]), sent, received};
    if (partner.send.size() == 0 && partner.receive.size() == 0) continue;
    sent += partner.send.size();
    received += partner.receive.size();
    partners_.push_back(partner);
  }
  TESSERA_CHECK(partners_.empty() || carrier_ != nullptr);
  sent_ = DeviceArray<T>(sent);
  received_ = DeviceArray<T>(received);
}

template <class T>
void BoxExchange<T, Device>::run(const T* in, const BoxPlaces& in_places, T* out,
                                 const BoxPlaces& out_places) const {
  constexpr auto kBytes = static_cast<Index>(sizeof(T));
  std::vector<DeviceMessage> messages;
  for (const Partner& partner : partners_) {
    T* const sent = sent_.data() + partner.sent_at;
    copy_box(partner.send, in, in_places, sent, packed(partner.send));
    messages.push_back({partner.rank, sent, received_.data() + partner.received_at,
                        partner.send.size() * kBytes, partner.receive.size() * kBytes});
  }
  copy_box(kept_, in, in_places, out, out_places);
  if (!messages.empty()) carrier_->exchange(messages);
  for (const Partner& partner : partners_) {
    const T* const received = received_.data() + partner.received_at;
    copy_box(partner.receive, received, packed(partner.receive), out, out_places);
  }
}

template class BoxExchange<double, Device>;
template class BoxExchange<float, Device>;

}  // namespace tessera
