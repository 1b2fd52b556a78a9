// Messages that carry their numbers are counted: each must have come once.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdint>

#include "solvers/memory/device_array.hpp"
#include "solvers/memory/launch.cuh"
#include "src/studies/aggregation/message_totals.hpp"

namespace tessera {

/// Where kernels note the messages that have come.
struct MessageMarks {
  unsigned* marks;        // [numbers], how often each came
  std::int64_t numbers;   // all are below
  MessageTotals* totals;  // of what came
};

/// What one thread notes. finish() is to be called at its end.
class MessageTally {
 public:
  /// @param is_whole whether the rest of the message is what goes with its number
  __device__ void note(const MessageMarks& to, std::uint64_t number, bool is_whole = true) {
    if (number >= static_cast<std::uint64_t>(to.numbers) || !is_whole) {
      ++mine_.strange;
      return;
    }
    atomicAdd(&to.marks[number], 1U);
    ++mine_.count;
    mine_.sum += number;
    mine_.exclusive_or ^= number;
  }

  __device__ void finish(const MessageMarks& to) const {
    namespace cg = cooperative_groups;
    const auto group = cg::coalesced_threads();
    const cg::plus<unsigned long long> plus;
    const unsigned long long count = cg::reduce(group, mine_.count, plus);
    const unsigned long long sum = cg::reduce(group, mine_.sum, plus);
    const unsigned long long strange = cg::reduce(group, mine_.strange, plus);
    const unsigned long long exclusive_or =
        cg::reduce(group, mine_.exclusive_or, cg::bit_xor<unsigned long long>());
    if (group.thread_rank() != 0) return;
    atomicAdd(&to.totals->count, count);
    atomicAdd(&to.totals->sum, sum);
    atomicAdd(&to.totals->strange, strange);
    atomicXor(&to.totals->exclusive_or, exclusive_or);
  }

 private:
  MessageTotals mine_;
};

namespace message_check {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 4096;

// Totals of the numbers that were sent, with those that did not come once as strange.
template <class IsSent>
__global__ void __launch_bounds__(kThreads)
    compare(const unsigned* marks, std::int64_t numbers, IsSent is_sent, MessageTotals* totals) {
  MessageTotals mine;
  for (std::int64_t i = thread_number<kThreads>(); i < numbers; i += thread_count<kThreads>()) {
    const bool sent = is_sent(i);
    if (marks[i] != (sent ? 1U : 0U)) ++mine.strange;
    if (!sent) continue;
    ++mine.count;
    mine.sum += static_cast<unsigned long long>(i);
    mine.exclusive_or ^= static_cast<unsigned long long>(i);
  }
  atomicAdd(&totals->count, mine.count);
  atomicAdd(&totals->sum, mine.sum);
  if (mine.strange > 0) atomicAdd(&totals->strange, mine.strange);
  atomicXor(&totals->exclusive_or, mine.exclusive_or);
}

}  // namespace message_check

/// Marks for messages with numbers below a bound.
class MessageCheck {
 public:
  /// @throws DeviceOutOfMemory
  explicit MessageCheck(std::int64_t numbers) : marks_(numbers), totals_(2) { clear(); }

  void clear() {
    zero_on_device(marks_.data(), marks_.bytes());
    zero_on_device(totals_.data(), totals_.bytes());
  }
  MessageMarks view() { return {marks_.data(), marks_.size(), totals_.data()}; }

  /// What came against what was sent. @param is_sent a function of a number, on the GPU
  template <class IsSent>
  MessageVerdict verdict(IsSent is_sent) {
    launch(message_check::compare<IsSent>,
           {.name = "comparing messages",
            .blocks =
                dim3(blocks_for(marks_.size(), message_check::kThreads, message_check::kMaxBlocks)),
            .threads = dim3(message_check::kThreads)},
           marks_.data(), marks_.size(), is_sent, totals_.data() + 1);
    const std::vector<MessageTotals> totals = to_host(totals_);
    return {.came = totals[0], .sent = totals[1]};
  }

 private:
  DeviceArray<unsigned> marks_;
  DeviceArray<MessageTotals> totals_;
};

}  // namespace tessera
