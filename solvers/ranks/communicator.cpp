// This file has what communicators have in common: sums in the order of ranks, and agreements.
#include "solvers/ranks/communicator.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "solvers/check.hpp"

namespace tessera {
namespace {

class SingleRank final : public Communicator {
 public:
  SingleRank() : Communicator(0, 1) {}

 private:
  void do_broadcast(std::span<std::byte> /*bytes*/, int /*root*/) const override {}
  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const override {
    std::copy(mine.begin(), mine.end(), all.begin());
  }
  void do_exchange(std::span<const Message> /*messages*/) const override {}
  void do_barrier() const override {}
};

}  // namespace

template <class Combine>
void Communicator::reduce(std::span<double> values, Combine&& combine) const {
  if (size_ == 1) return;
  // Of so many values at a time there is a copy of each rank.
  constexpr std::size_t kChunk = std::size_t{1} << 16;
  std::vector<double> all;
  for (std::size_t at = 0; at < values.size(); at += kChunk) {
    const std::span<double> chunk = values.subspan(at, std::min(kChunk, values.size() - at));
    all.resize(chunk.size() * static_cast<std::size_t>(size_));
    all_gather(std::as_bytes(chunk), std::as_writable_bytes(std::span(all)));
    std::copy_n(all.begin(), chunk.size(), chunk.begin());
    for (std::size_t i = chunk.size(); i < all.size(); ++i) {
      double& value = chunk[i % chunk.size()];
      value = combine(value, all[i]);
    }
  }
}

void Communicator::sum(std::span<double> values) const {
  reduce(values, [](double a, double b) { return a + b; });
}

double Communicator::sum(double value) const {
  sum(std::span(&value, 1));
  return value;
}

void Communicator::min(std::span<double> values) const {
  reduce(values, [](double a, double b) { return std::isnan(a) || a < b ? a : b; });
}

void Communicator::max(std::span<double> values) const {
  reduce(values, [](double a, double b) { return std::isnan(a) || a > b ? a : b; });
}

bool Communicator::any(bool value) const { return sum(value ? 1.0 : 0.0) > 0.0; }

void Communicator::broadcast(std::span<std::byte> bytes, int root) const {
  TESSERA_CHECK(0 <= root && root < size_);
  if (size_ > 1 && !bytes.empty()) do_broadcast(bytes, root);
}

std::string Communicator::broadcast(const std::string& text, int root) const {
  if (size_ == 1) return text;
  auto length = static_cast<std::uint64_t>(text.size());
  broadcast(std::as_writable_bytes(std::span(&length, 1)), root);
  std::string received = rank_ == root ? text : std::string(length, '\0');
  broadcast(std::as_writable_bytes(std::span(received)), root);
  return received;
}

void Communicator::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) const {
  TESSERA_CHECK(all.size() == mine.size() * static_cast<std::size_t>(size_));
  if (!mine.empty()) do_all_gather(mine, all);
}

void Communicator::exchange(std::span<const Message> messages) const {
  for (const Message& message : messages) {
    TESSERA_CHECK(0 <= message.rank && message.rank < size_ && message.rank != rank_);
    TESSERA_CHECK(message.send.size() == message.receive.size());
  }
  if (!messages.empty()) do_exchange(messages);
}

void Communicator::barrier() const {
  if (size_ > 1) do_barrier();
}

Agreement Communicator::agree(int code, const std::string& message) const {
  const std::vector<int> codes = all_gather(code);
  const auto worst = std::max_element(codes.begin(), codes.end());
  const auto rank = static_cast<int>(worst - codes.begin());
  if (*worst == 0) return {};
  return {*worst, rank, broadcast(message, rank)};
}

const Communicator& single_rank() {
  static const SingleRank rank;
  return rank;
}

}  // namespace tessera
