// Part routing of the study aggregation: updates that go to destinations in buffers.
#include <fmt/format.h>

#include <algorithm>

#include "src/studies/aggregation/aggregation_row.hpp"
#include "src/studies/aggregation/parts.hpp"
#include "src/studies/aggregation/routing/device_routing.hpp"
#include "src/studies/repeated_runs.hpp"

namespace tessera {
namespace {

struct NamedScheme {
  RoutingScheme scheme;
  const char* name;
};
constexpr NamedScheme kSchemes[] = {{RoutingScheme::direct, "direct"},
                                    {RoutingScheme::indirect, "indirect"},
                                    {RoutingScheme::counting_sort, "counting-sort"},
                                    {RoutingScheme::radix_sort, "radix-sort"}};

constexpr int kMinDestinations = 2;
constexpr int kMaxDestinations = 64;
constexpr std::int64_t kBufferKilobytes[] = {1, 4, 16, 32, 64, 256};
// 256 MB, more than the L2 cache.
constexpr std::int64_t kTableEntries = std::int64_t{1} << 26;
constexpr std::int64_t kRound = std::int64_t{1} << 24;

void measure_row(StudyRecord& record, const NamedScheme& way, const RoutingWork& work,
                 DeviceRouting& routing) {
  const AggregationParameters parameters = routing_parameters(work.destinations, work.buffer_bytes);
  record.show_status(
      fmt::format("{}, {} destinations, {}", way.name, parameters.destinations, parameters.buffer));
  StudyRow row{.variant = way.name, .parameters = parameters.cells()};
  row.seconds = repeat_runs(record.options().pace, [&] { return routing.seconds(work); });
  const DeviceRouting::Counted counted = routing.count(work);
  conclude_row({.billions_per_s = 1e-9 * static_cast<double>(work.updates) / row.seconds.median,
                .buffers = counted.buffers,
                .mean_fill = counted.mean_fill},
               counted.messages.text(), row);
  record.add(std::move(row));
}

}  // namespace

void measure_routing(StudyRecord& record) {
  const StudyOptions& options = record.options();
  if (std::none_of(std::begin(kSchemes), std::end(kSchemes),
                   [&](const NamedScheme& way) { return options.selects(way.name); })) {
    return;
  }
  const std::int64_t all = options.is_quick() ? 18'000'000 : 180'000'000;
  record.say(
      "routing: {} / N updates of one of N destinations, all of which are here; {} at a time, as\n"
      "messages of 8 bytes in buffers, which go when full or when those at hand are in buffers\n",
      all, kRound);
  DeviceRouting routing(kTableEntries, all / kMinDestinations, kRound);
  for (int destinations = kMinDestinations; destinations <= kMaxDestinations; destinations *= 2) {
    for (const std::int64_t kilobytes : kBufferKilobytes) {
      for (const NamedScheme& way : kSchemes) {
        if (!options.selects(way.name)) continue;
        measure_row(record, way,
                    {.scheme = way.scheme,
                     .updates = all / destinations,
                     .destinations = destinations,
                     .buffer_bytes = 1024 * kilobytes,
                     .seed = options.seed},
                    routing);
      }
    }
  }
}

}  // namespace tessera
