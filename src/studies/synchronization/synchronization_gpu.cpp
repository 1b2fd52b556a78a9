// This file measures additions of GPU threads that share entries.
#include "src/studies/synchronization/synchronization_gpu.hpp"

#include <fmt/format.h>

#include "postprocess/files/human_units.hpp"
#include "src/studies/repeated_runs.hpp"
#include "src/studies/synchronization/device_additions.hpp"
#include "src/studies/synchronization/synchronization_claims.hpp"

namespace tessera {
namespace {

struct NamedAddition {
  DeviceAddition addition;
  const char* name;
};
constexpr NamedAddition kAdditions[] = {{DeviceAddition::atomic, "atomic"},
                                        {DeviceAddition::atomic_result, "atomic-result"},
                                        {DeviceAddition::cas, "cas"},
                                        {DeviceAddition::warp_sums, "warp-sums"},
                                        {DeviceAddition::block_sums, "block-sums"},
                                        {DeviceAddition::unprotected, "unprotected"}};
constexpr std::int64_t kTableBytes[] = {std::int64_t{1} << 24, std::int64_t{1} << 32};
constexpr std::int64_t kSharing[] = {1, 2, 4, 8, 32, 1024};
// Loops of compare-and-swap at one entry, of which one ends at a time.
constexpr std::int64_t kMaxSharingCas = 1024;

/// All ways on one table.
class GpuAdditions {
 public:
  GpuAdditions(StudyRecord& record, std::int64_t table_bytes)
      : record_(record),
        // 2^26 additions, so that a repetition takes a millisecond or more.
        additions_(std::int64_t{1} << (record.options().is_quick() ? 22 : 26)),
        table_entries_(table_bytes / static_cast<std::int64_t>(sizeof(double))),
        table_text_(human_bytes(static_cast<double>(table_bytes))),
        table_(table_entries_) {}

  void measure() {
    for (const std::int64_t sharing : kSharing) measure(sharing);
    measure(additions_);
  }

 private:
  void measure(std::int64_t sharing) {
    for (const SharedBy shared_by : {SharedBy::neighbors, SharedBy::distant_blocks}) {
      const AdditionPlaces places = {.additions = additions_,
                                     .sharing = sharing,
                                     .table_entries = table_entries_,
                                     .shared_by = shared_by};
      for (const NamedAddition& way : kAdditions) {
        if (record_.options().selects(way.name)) row(way, places);
      }
    }
  }

  void row(const NamedAddition& way, const AdditionPlaces& places) {
    const bool is_near = places.shared_by == SharedBy::neighbors;
    const std::string sharing =
        places.sharing == additions_ ? "all" : std::to_string(places.sharing);
    StudyRow row{
        .variant = way.name,
        .parameters = gpu_parameters(is_near ? "neighbors" : "distant", sharing, table_text_)};
    if (way.addition == DeviceAddition::cas && places.sharing > kMaxSharingCas) {
      row.not_measured = "one of all threads succeeds at a time, which takes hours";
      record_.add(std::move(row));
      return;
    }
    record_.show_status(fmt::format("{}, {} threads an entry, {}", way.name, sharing, table_text_));
    row.seconds =
        repeat_runs(record_.options().pace, [&] { return table_.seconds(way.addition, places); });
    const double additions = static_cast<double>(additions_);
    row.shown_per_second = 1e9 / additions;
    row.metrics.resize(record_.table().layout().metrics.size());
    row.metrics.back() = 1e-9 * additions / row.seconds.median;
    const DeviceAdditions::Result result = table_.result(places);
    if (result.wrong_entries > 0.0) {
      row.correctness = way.addition == DeviceAddition::unprotected ? Correctness::wrong_by_design
                                                                    : Correctness::wrong;
      row.wrong = lost_text(result.missing / additions);
    }
    record_.add(std::move(row));
  }

  StudyRecord& record_;
  std::int64_t additions_;
  std::int64_t table_entries_;
  std::string table_text_;
  DeviceAdditions table_;
};

}  // namespace

std::vector<std::string> gpu_addition_variants() {
  std::vector<std::string> names;
  for (const NamedAddition& way : kAdditions) names.emplace_back(way.name);
  return names;
}

void measure_gpu_additions(StudyRecord& record) {
  if constexpr (kHasCuda) {
    record.say(
        "gpu: each of 2^26 threads (with --quick 2^22) adds 1 to one of a table's numbers; m\n"
        "threads share one, neighbors or threads of distant blocks; where the table has fewer\n"
        "numbers than there are such groups, groups share them, too\n");
    for (const std::int64_t bytes : kTableBytes) {
      // Half of the memory is left for others.
      if (2 * bytes > require_device().free_bytes) {
        record.say("table of {}: not measured: too little memory on the GPU\n",
                   human_bytes(static_cast<double>(bytes)));
        continue;
      }
      GpuAdditions(record, bytes).measure();
    }
  }
}

}  // namespace tessera
