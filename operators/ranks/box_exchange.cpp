// This file packs boxes of nodes into messages.
#include "operators/ranks/box_exchange.hpp"

#include "mesh/saturated.hpp"

namespace tessera {
namespace {

// Rows of a box from one place to another.
template <class T>
void copy_box(const NodeBox& box, const T* in, const BoxPlaces& from, T* out, const BoxPlaces& to) {
  const Index rows = box.extent(1) * box.extent(2);
#pragma omp parallel for schedule(static)
  for (Index row = 0; row < rows; ++row) {
    const IndexTriple at{box.first[0], box.first[1] + row % box.extent(1),
                         box.first[2] + row / box.extent(1)};
    std::copy_n(in + from.of(at), box.extent(0), out + to.of(at));
  }
}

}  // namespace

template <class T>
BoxExchange<T, Host>::BoxExchange(const Communicator& ranks, const std::vector<NodeBox>& from,
                                  const std::vector<NodeBox>& to)
    : ranks_(ranks) {
  const auto mine = static_cast<std::size_t>(ranks.rank());
  kept_ = intersection(from[mine], to[mine]);
  Index at = 0;
  for (std::size_t other = 0; other < from.size(); ++other) {
    if (other == mine) continue;
    Partner partner{static_cast<int>(other), intersection(from[mine], to[other]),
                    intersection(from[other], to[mine]), at, 0};
    partner.length = std::max(partner.send.size(), partner.receive.size());
    if (partner.length == 0) continue;
    at += partner.length;
    partners_.push_back(partner);
  }
  sent_ = HostArray<T>(static_cast<std::size_t>(at), T{});
  received_ = HostArray<T>(static_cast<std::size_t>(at), T{});
}

Index exchanged_values(int rank, const std::vector<NodeBox>& from, const std::vector<NodeBox>& to,
                       Processor processor) {
  const auto mine = static_cast<std::size_t>(rank);
  Saturated values = 0;
  for (std::size_t other = 0; other < from.size(); ++other) {
    if (other == mine) continue;
    const Index sent = intersection(from[mine], to[other]).size();
    const Index received = intersection(from[other], to[mine]).size();
    if (processor == Processor::gpu) {
      values += Saturated(sent) + received;
    } else {
      values += Saturated(std::max(sent, received)) * 2;
    }
  }
  return values;
}

template <class T>
void BoxExchange<T, Host>::run(const T* in, const BoxPlaces& in_places, T* out,
                               const BoxPlaces& out_places) const {
  std::vector<Message> messages;
  for (const Partner& partner : partners_) {
    T* const sent = sent_.data() + partner.at;
    copy_box(partner.send, in, in_places, sent, packed(partner.send));
    const auto length = static_cast<std::size_t>(partner.length);
    messages.push_back({partner.rank, std::as_bytes(std::span(sent, length)),
                        std::as_writable_bytes(std::span(received_.data() + partner.at, length))});
  }
  copy_box(kept_, in, in_places, out, out_places);
  ranks_.exchange(messages);
  for (const Partner& partner : partners_) {
    const T* const received = received_.data() + partner.at;
    copy_box(partner.receive, received, packed(partner.receive), out, out_places);
  }
}

template class BoxExchange<double, Host>;
template class BoxExchange<float, Host>;

}  // namespace tessera
