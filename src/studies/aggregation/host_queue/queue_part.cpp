// Part queue of the study aggregation: from GPU blocks to host threads.
#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "src/studies/aggregation/aggregation_row.hpp"
#include "src/studies/aggregation/host_queue/device_producers.hpp"
#include "src/studies/aggregation/parts.hpp"
#include "src/studies/repeated_runs.hpp"
#include "src/studies/thread_team.hpp"

namespace tessera {
namespace {

constexpr char kQueue[] = "queue";
constexpr char kCopy[] = "pinned-copy";
constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;
// As in the document.
constexpr std::int64_t kQueueBytes = kMegabyte;
constexpr std::size_t kBufferWords = 64 * 1024 / sizeof(std::uint64_t);
constexpr int kUsualTimeout = 125;
constexpr int kMessageBytes[] = {8, 16, 32, 64, 128, 256};
constexpr int kTimeoutsOf32[] = {25, 125, 1000};
constexpr int kMaxConsumers = 4;

/// One kind of message, and a team: thread 0 has the GPU, the others are consumers.
class HostQueue {
 public:
  HostQueue(int message_bytes, int consumers, int timeout_us, std::int64_t bytes)
      : producers_(message_bytes, kQueueBytes),
        message_words_(static_cast<std::size_t>(message_bytes) / sizeof(std::uint64_t)),
        packages_(static_cast<std::uint64_t>(bytes / producers_.slot_bytes())),
        outlet_(producers_.outlet(packages_)),
        rule_{.words = kBufferWords, .timeout = std::chrono::microseconds(timeout_us)},
        buffers_(static_cast<std::size_t>(consumers), std::vector<std::uint64_t>(kBufferWords)),
        counts_(static_cast<std::size_t>(consumers)) {}

  /// Seconds of a run. @throws what the GPU throws; NotMeasured if a consumer gave up
  Summary seconds(const Pace& pace) {
    const SendBuffer send = [](std::span<const std::uint64_t>) {};
    const Summary seconds = time_team(
        threads(), pace, [this](int thread) { prepare(thread); },
        [&](int thread) { work(thread, send); });
    finish();
    return seconds;
  }
  /// One more run, whose messages are counted.
  MessageVerdict verdict() {
    HostMessageCheck check(packages_ * DeviceProducers::kSlotMessages, message_words_,
                           DeviceProducers::kSlotMessages);
    const SendBuffer send = [&](std::span<const std::uint64_t> slots) { check.note(slots); };
    prepare(0);
    run_team(threads(), [&](int thread) { work(thread, send); });
    finish();
    return check.verdict();
  }
  /// Of the consumers together, in the last run.
  ConsumerCounts counts() const {
    ConsumerCounts all;
    for (const ConsumerCounts& one : counts_) {
      all.buffers += one.buffers;
      all.words += one.words;
      all.polling_s += one.polling_s;
      all.seconds += one.seconds;
    }
    return all;
  }
  double bytes() const {
    return static_cast<double>(packages_) * static_cast<double>(producers_.slot_bytes());
  }

 private:
  int threads() const { return static_cast<int>(buffers_.size()) + 1; }

  // Work of a team must not throw.
  template <class Step>
  void guard(Step&& step) {
    try {
      step();
    } catch (...) {
      failure_ = std::current_exception();
      producers_.give_up();
    }
  }
  void prepare(int thread) {
    if (thread != 0) return;
    guard([this] {
      note_if_given_up();
      producers_.reset();
    });
  }
  void work(int thread, const SendBuffer& send) {
    if (thread == 0) return guard([this] { producers_.produce(packages_); });
    const auto mine = static_cast<std::size_t>(thread - 1);
    counts_[mine] = consume(outlet_, rule_, buffers_[mine], send);
  }
  // Of the run before, as a reset forgets it.
  void note_if_given_up() { gave_up_ = gave_up_ || HostMemory::load(outlet_.given_up) != 0; }
  void finish() {
    note_if_given_up();
    if (failure_) std::rethrow_exception(failure_);
    if (gave_up_) throw NotMeasured("a consumer waited for 10 s");
  }

  DeviceProducers producers_;
  std::size_t message_words_;
  std::uint64_t packages_;
  QueueOutlet outlet_;
  BufferRule rule_;
  std::vector<std::vector<std::uint64_t>> buffers_;
  std::vector<ConsumerCounts> counts_;
  std::exception_ptr failure_;
  bool gave_up_ = false;  // a consumer, in any run
};

void measure_row(StudyRecord& record, int message_bytes, int consumers, int timeout_us) {
  const AggregationParameters parameters = queue_parameters(message_bytes, consumers, timeout_us);
  StudyRow row{.variant = kQueue, .parameters = parameters.cells()};
  // One more thread has the GPU.
  row.not_measured = why_no_team(consumers + 1);
  if (!row.not_measured.empty()) return record.add(std::move(row));
  record.show_status(fmt::format("queue, {} bytes, {} consumers", message_bytes, consumers));
  const std::int64_t bytes = (record.options().is_quick() ? 8 : 64) * kMegabyte;
  HostQueue queue(message_bytes, consumers, timeout_us, bytes);
  try {
    row.seconds = queue.seconds(record.options().pace);
    const ConsumerCounts counts = queue.counts();
    const double per_second = queue.bytes() / row.seconds.median;
    conclude_row({.billions_per_s = 1e-9 * per_second / message_bytes,
                  .gigabytes_per_s = 1e-9 * per_second,
                  .buffers = static_cast<double>(counts.buffers),
                  .mean_fill = static_cast<double>(counts.words) /
                               static_cast<double>(counts.buffers * kBufferWords),
                  .poll_percent = 100.0 * counts.polling_s / counts.seconds},
                 queue.verdict().text(), row);
  } catch (const NotMeasured& why) {
    row.not_measured = why.what();
    row.metrics.clear();
  }
  record.add(std::move(row));
}

void measure_copy(StudyRecord& record) {
  constexpr std::int64_t kCopied = 256 * kMegabyte;
  PinnedCopy copy(kCopied);
  StudyRow row{.variant = kCopy, .parameters = pinned_copy_parameters().cells()};
  row.seconds = repeat_runs(record.options().pace, [&] { return copy.seconds(); });
  conclude_row({.gigabytes_per_s = 1e-9 * static_cast<double>(kCopied) / row.seconds.median}, "",
               row);
  record.add(std::move(row));
}

}  // namespace

void measure_host_queue(StudyRecord& record) {
  if (record.options().selects(kCopy)) measure_copy(record);
  if (!record.options().selects(kQueue)) return;
  record.say(
      "queue: blocks fill slots of 256 messages in page-locked memory, {} MB in all; consumers "
      "copy\n"
      "them into a buffer of 64 kB each, which goes when full or, while they wait, after a time\n",
      kQueueBytes / kMegabyte);
  for (const int bytes : kMessageBytes) {
    for (int consumers = 1; consumers <= kMaxConsumers; ++consumers) {
      if (bytes != 32) {
        measure_row(record, bytes, consumers, kUsualTimeout);
        continue;
      }
      for (const int timeout : kTimeoutsOf32) measure_row(record, bytes, consumers, timeout);
    }
  }
}

}  // namespace tessera
