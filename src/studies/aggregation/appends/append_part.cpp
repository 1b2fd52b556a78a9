// Part append of the study aggregation: at which level threads reserve places.
#include <fmt/format.h>

#include <algorithm>

#include "src/studies/aggregation/aggregation_row.hpp"
#include "src/studies/aggregation/appends/device_append.hpp"
#include "src/studies/aggregation/parts.hpp"
#include "src/studies/repeated_runs.hpp"

namespace tessera {
namespace {

struct Level {
  AppendLevel level;
  int block_threads;
  std::string name;
};

std::vector<Level> levels() {
  std::vector<Level> levels = {{AppendLevel::lane, 256, "lane"}, {AppendLevel::warp, 256, "warp"}};
  for (const int threads : {64, 128, 256, 1024}) {
    levels.push_back({AppendLevel::block, threads, block_variant(threads)});
  }
  return levels;
}

constexpr int kMessageBytes[] = {4, 8, 16, 32, 64, 128, 256};
constexpr double kActive[] = {1.0, 0.5, 0.05};

/// All levels, with one array.
class Appends {
 public:
  Appends(StudyRecord& record, std::int64_t threads, std::int64_t array_bytes)
      : record_(record),
        threads_(threads),
        array_bytes_(array_bytes),
        array_(array_bytes, threads) {}

  void measure(int bytes, double active) {
    std::int64_t threads = threads_;
    while (threads * bytes > array_bytes_) threads /= 2;
    if (threads < threads_ && active == 1.0) {
      record_.say("append, {} bytes: {} messages, as memory lacks\n", bytes, threads);
    }
    for (const Level& level : levels()) {
      if (!record_.options().selects(level.name)) continue;
      row(level,
          {.level = level.level,
           .block_threads = level.block_threads,
           .threads = threads,
           .bytes = bytes,
           .share = static_cast<std::uint64_t>(active * 0x1p32),
           .seed = record_.options().seed},
          append_parameters(bytes, active));
    }
  }

 private:
  void row(const Level& level, const AppendWork& work, const AggregationParameters& parameters) {
    record_.show_status(
        fmt::format("{}, {} bytes, {} active", level.name, work.bytes, parameters.active));
    StudyRow row{.variant = level.name, .parameters = parameters.cells()};
    row.seconds = repeat_runs(record_.options().pace, [&] { return array_.seconds(work); });
    const DeviceAppend::Counted counted = array_.count(work);
    const auto messages = static_cast<double>(counted.messages.sent.count);
    const double per_second = 1e-9 * messages / row.seconds.median;
    conclude_row({.billions_per_s = per_second,
                  .gigabytes_per_s = work.bytes * per_second,
                  .atomics_per_message = counted.reservations / messages},
                 counted.messages.text(), row);
    record_.add(std::move(row));
  }

  StudyRecord& record_;
  std::int64_t threads_;
  std::int64_t array_bytes_;
  DeviceAppend array_;
};

}  // namespace

void measure_appends(StudyRecord& record) {
  const std::vector<Level> all = levels();
  if (std::none_of(all.begin(), all.end(),
                   [&](const Level& level) { return record.options().selects(level.name); })) {
    return;
  }
  const bool is_quick = record.options().is_quick();
  const std::int64_t threads = std::int64_t{1} << (is_quick ? 20 : 26);
  const std::int64_t wanted = threads * kMessageBytes[std::size(kMessageBytes) - 1];
  const std::int64_t room = require_device().free_bytes / 2;
  std::int64_t bytes = wanted;
  while (bytes > room) bytes /= 2;
  record.say(
      "append: of {} threads a random share append a message each to one array; lanes reserve\n"
      "a place each, warps and blocks together; atomics are reservations a message\n",
      threads);
  Appends appends(record, threads, bytes);
  for (const int message_bytes : kMessageBytes) {
    for (const double active : kActive) appends.measure(message_bytes, active);
  }
}

}  // namespace tessera
