// Part divergence of the study aggregation: appends of threads of which most have nothing to
// append.
#include <algorithm>

#include "src/studies/aggregation/aggregation_row.hpp"
#include "src/studies/aggregation/appends/device_divergence.hpp"
#include "src/studies/aggregation/parts.hpp"
#include "src/studies/repeated_runs.hpp"

namespace tessera {
namespace {

struct NamedWay {
  Divergence way;
  const char* name;
};
constexpr NamedWay kWays[] = {{Divergence::predicated, "predicated"},
                              {Divergence::warp_append, "warp-append"},
                              {Divergence::barrier, "barrier"}};

}  // namespace

void measure_divergence(StudyRecord& record) {
  const StudyOptions& options = record.options();
  if (std::none_of(std::begin(kWays), std::end(kWays),
                   [&](const NamedWay& way) { return options.selects(way.name); })) {
    return;
  }
  const std::int64_t threads = std::int64_t{1} << (options.is_quick() ? 20 : 24);
  record.say("divergence: of {} threads one in 20 has messages to append, from 1 to {} of them\n",
             threads, DeviceDivergence::kMaxMessages);
  DeviceDivergence appends(threads, options.seed);
  for (const NamedWay& way : kWays) {
    if (!options.selects(way.name)) continue;
    record.show_status(way.name);
    StudyRow row{.variant = way.name, .parameters = divergence_parameters().cells()};
    row.seconds = repeat_runs(options.pace, [&] { return appends.seconds(way.way); });
    const MessageVerdict verdict = appends.verdict();
    conclude_row(
        {.billions_per_s = 1e-9 * static_cast<double>(verdict.sent.count) / row.seconds.median},
        verdict.text(), row);
    record.add(std::move(row));
  }
}

}  // namespace tessera
