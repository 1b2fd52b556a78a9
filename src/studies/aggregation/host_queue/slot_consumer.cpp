// This file polls, copies and sends.
#include "src/studies/aggregation/host_queue/slot_consumer.hpp"

#include <algorithm>

#include "src/studies/sharing/waiting.hpp"

namespace tessera {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// A consumer's buffer.
class Collector {
 public:
  Collector(const BufferRule& rule, std::span<std::uint64_t> buffer, const SendBuffer& send)
      : rule_(rule), buffer_(buffer), send_(send) {}

  void add(std::span<const std::uint64_t> slot, Clock::time_point now) {
    if (used_ + slot.size() > rule_.words) go();
    if (used_ == 0) since_ = now;
    std::copy(slot.begin(), slot.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ += slot.size();
    if (used_ == rule_.words) go();
  }
  void go_if_old(Clock::time_point now) {
    if (used_ > 0 && now - since_ >= rule_.timeout) go();
  }
  void go() {
    if (used_ == 0) return;
    send_(buffer_.first(used_));
    ++counts_.buffers;
    counts_.words += used_;
    used_ = 0;
  }

  void add_polling(Clock::duration duration) { counts_.polling_s += seconds_of(duration); }
  const ConsumerCounts& counts() const { return counts_; }

 private:
  const BufferRule& rule_;
  std::span<std::uint64_t> buffer_;
  const SendBuffer& send_;
  std::size_t used_ = 0;
  Clock::time_point since_;
  ConsumerCounts counts_;
};

// Whether the slot may be emptied; else somebody has given up.
bool wait_for(const QueueOutlet& queue, const SlotTicket& ticket, const BufferRule& rule,
              Collector& collector) {
  const Clock::time_point start = Clock::now();
  Clock::time_point now = start;
  bool is_there = may_empty<HostMemory>(queue.flags, ticket);
  while (!is_there) {
    if (HostMemory::load(queue.given_up) != 0) break;
    now = Clock::now();
    collector.go_if_old(now);
    if (now - start > rule.patience) HostMemory::store(queue.given_up, 1);
    pause_core();
    is_there = may_empty<HostMemory>(queue.flags, ticket);
  }
  collector.add_polling(now - start);
  return is_there;
}

}  // namespace

ConsumerCounts consume(const QueueOutlet& queue, const BufferRule& rule,
                       std::span<std::uint64_t> buffer, const SendBuffer& send) {
  const Clock::time_point start = Clock::now();
  Collector collector(rule, buffer, send);
  for (;;) {
    const SlotTicket ticket = draw_ticket<HostMemory>(queue.next_read, queue.slots);
    if (ticket.number >= queue.packages) break;
    if (!wait_for(queue, ticket, rule, collector)) break;
    collector.add({queue.words + ticket.slot * queue.slot_words, queue.slot_words}, Clock::now());
    release<HostMemory>(queue.flags, ticket);
  }
  collector.go();
  ConsumerCounts counts = collector.counts();
  counts.seconds = seconds_of(Clock::now() - start);
  return counts;
}

HostMessageCheck::HostMessageCheck(std::uint64_t messages, std::size_t words,
                                   std::size_t messages_per_slot)
    : words_(words), messages_per_slot_(messages_per_slot), marks_(messages) {}

void HostMessageCheck::note(std::span<const std::uint64_t> slots) {
  MessageTotals mine;
  const std::size_t slot_words = words_ * messages_per_slot_;
  for (std::size_t first = 0; first < slots.size(); first += slot_words) {
    for (std::size_t m = 0; m < messages_per_slot_; ++m) {
      const std::uint64_t number = slots[first + m];
      bool is_whole = number < marks_.size();
      for (std::size_t w = 1; w < words_; ++w) {
        is_whole = is_whole && slots[first + w * messages_per_slot_ + m] == message_word(number, w);
      }
      if (!is_whole) {
        ++mine.strange;
        continue;
      }
      std::atomic_ref(marks_[number]).fetch_add(1, std::memory_order_relaxed);
      ++mine.count;
      mine.sum += number;
      mine.exclusive_or ^= number;
    }
  }
  count_ += mine.count;
  sum_ += mine.sum;
  exclusive_or_ ^= mine.exclusive_or;
  strange_ += mine.strange;
}

MessageVerdict HostMessageCheck::verdict() const {
  MessageVerdict verdict;
  verdict.came = {count_, sum_, exclusive_or_, strange_};
  for (std::uint64_t number = 0; number < marks_.size(); ++number) {
    ++verdict.sent.count;
    verdict.sent.sum += number;
    verdict.sent.exclusive_or ^= number;
    if (marks_[number] != 1) ++verdict.sent.strange;
  }
  return verdict;
}

}  // namespace tessera
