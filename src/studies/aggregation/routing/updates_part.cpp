// Part updates of the study aggregation: increments at random places of a table (GUPS).
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "postprocess/files/human_units.hpp"
#include "src/studies/aggregation/aggregation_row.hpp"
#include "src/studies/aggregation/parts.hpp"
#include "src/studies/aggregation/routing/device_updates.hpp"
#include "src/studies/repeated_runs.hpp"

namespace tessera {
namespace {

struct NamedOrder {
  UpdateOrder order;
  const char* name;
};
constexpr NamedOrder kOrders[] = {{UpdateOrder::direct, "direct-atomic"},
                                  {UpdateOrder::sorted, "sorted"},
                                  {UpdateOrder::binned, "binned"}};

constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;
constexpr std::int64_t kTableBytes[] = {16 * kMegabyte, 256 * kMegabyte, 8192 * kMegabyte};
constexpr std::int64_t kQuickTableBytes[] = {16 * kMegabyte, 256 * kMegabyte};
constexpr int kEntryBytes = 8;

void measure_table(StudyRecord& record, std::int64_t table_bytes, std::int64_t updates,
                   double copy_bytes_per_second) {
  const std::int64_t entries = table_bytes / kEntryBytes;
  if (DeviceUpdates::bytes(entries, updates) > require_device().free_bytes / 10 * 9) {
    for (const NamedOrder& way : kOrders) {
      if (!record.options().selects(way.name)) continue;
      record.add({.variant = way.name,
                  .parameters = update_parameters(table_bytes).cells(),
                  .not_measured = "too little memory on the GPU"});
    }
    return;
  }
  DeviceUpdates table(entries, updates, record.options().seed);
  for (const NamedOrder& way : kOrders) {
    if (!record.options().selects(way.name)) continue;
    record.show_status(
        fmt::format("{}, {}", way.name, human_bytes(static_cast<double>(table_bytes))));
    StudyRow row{.variant = way.name, .parameters = update_parameters(table_bytes).cells()};
    row.seconds = repeat_runs(record.options().pace, [&] { return table.seconds(way.order); });
    const double per_second = static_cast<double>(updates) / row.seconds.median;
    // An update reads its entry and writes it.
    constexpr double kBytesMoved = 2.0 * kEntryBytes;
    conclude_row({.billions_per_s = 1e-9 * per_second,
                  .share_of_copy = kBytesMoved * per_second / copy_bytes_per_second},
                 table.wrong(), row);
    record.add(std::move(row));
  }
}

}  // namespace

void measure_updates(StudyRecord& record) {
  if (std::none_of(std::begin(kOrders), std::end(kOrders),
                   [&](const NamedOrder& way) { return record.options().selects(way.name); })) {
    return;
  }
  const bool is_quick = record.options().is_quick();
  const std::int64_t updates = is_quick ? 18'000'000 : 180'000'000;
  const double copy = measure_device_copy_bandwidth();
  record.say(
      "updates: {} additions of 1 to 8-byte entries at random places of a table; of copy: 16 "
      "bytes\n"
      "an update against {:.0f} GB/s\n",
      updates, 1e-9 * copy);
  for (const std::int64_t bytes :
       is_quick ? std::span<const std::int64_t>(kQuickTableBytes) : std::span(kTableBytes)) {
    measure_table(record, bytes, updates, copy);
  }
}

}  // namespace tessera
