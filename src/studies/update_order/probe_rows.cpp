// This file measures the order in which a GPU updates a vector.
#include "src/studies/update_order/probe_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "solvers/configuration.hpp"
#include "solvers/interruption.hpp"
#include "src/studies/repeated_runs.hpp"
#include "src/studies/update_order/device_order_probe.hpp"
#include "src/studies/update_order/update_order_table.hpp"

namespace tessera {
namespace {

// Several waves of blocks of every size.
constexpr Index kComponents = Index{1} << 20;
constexpr int kLaunches = 100;
constexpr int kFewLaunches = 10;
constexpr double kMicroseconds = 1e6;

/// The rows of both parts that need a GPU.
class ProbeRows {
 public:
  explicit ProbeRows(StudyRecord& record) : record_(record), probe_(kComponents) {}

  void measure_kernels() {
    for (const ProbeKernel kernel :
         {ProbeKernel::kernel0, ProbeKernel::kernel1, ProbeKernel::kernel2}) {
      if (!record_.options().selects(probe_name(kernel))) continue;
      for (const LoadPath path : {LoadPath::cached, LoadPath::l2}) {
        for (const int block : probe_blocks(kernel)) {
          record_.show_status(
              fmt::format("{}, {}, blocks of {}", probe_name(kernel), path_name(path), block));
          record_.add(probe_row({kernel, path, block}));
        }
      }
    }
  }

  void measure_starts() {
    if (!record_.options().selects(kStarts)) return;
    for (const int block : probe_blocks(ProbeKernel::kernel1)) measure_starts(block);
  }

 private:
  StudyRow probe_row(const ProbeSetup& setup) {
    ProbeResult result = probe_.run(setup, record_.options().own.number("executions"));
    StudyRow row{.variant = probe_name(setup.kernel),
                 .part = kProbePart,
                 .parameters = probe_parameters(setup.path, setup.block),
                 .seconds = summarize(std::move(result.seconds)),
                 .shown_per_second = kMicroseconds,
                 .metrics = probe_cells(result.executions, result.counts, setup.block)};
    const std::int64_t inconsistent = places_of(result.counts, setup.block).all();
    if (result.faults > 0) {
      row.correctness = Correctness::wrong;
      row.wrong = fmt::format("{} components are no result of updates", result.faults);
    } else if (setup.kernel == ProbeKernel::kernel0 && inconsistent > 0) {
      row.correctness = Correctness::wrong;
      row.wrong = fmt::format("{} components were not updated", inconsistent);
    }
    return row;
  }

  void measure_starts(int block) {
    const int launches = record_.options().is_quick() ? kFewLaunches : kLaunches;
    const Index blocks = kComponents / block;
    const Index first_wave = std::min(blocks, probe_.resident_blocks_of_starts(block));
    StartOrder first;
    StartOrder later;
    StartOrder all;
    for (int launch = 0; launch < launches; ++launch) {
      stop_if_requested();
      const std::vector<BlockStart> starts = probe_.starts(block);
      first += start_order(starts, 0, first_wave);
      later += start_order(starts, first_wave, blocks);
      all += start_order(starts, 0, blocks);
    }
    for (const auto& [wave, order] : {std::pair{Wave::first, first}, std::pair{Wave::later, later},
                                      std::pair{Wave::all, all}}) {
      record_.add({.variant = kStarts,
                   .part = kStartPart,
                   .parameters = start_parameters(block, wave),
                   .metrics = start_cells(launches, order)});
    }
  }

  StudyRecord& record_;
  DeviceOrderProbe probe_;
};

}  // namespace

std::vector<std::string> probe_variants() {
  return {probe_name(ProbeKernel::kernel0), probe_name(ProbeKernel::kernel1),
          probe_name(ProbeKernel::kernel2), kStarts};
}

void measure_order_probes(StudyRecord& record) {
  if constexpr (kHasCuda) {
    record.say(
        "probe: of {} ones each inner one becomes 0 if its neighbors are 1; what stays 1 was "
        "updated\n"
        "after a neighbor, an inconsistency. kernel0 writes another vector, kernel1 works in "
        "place,\n"
        "kernel2 in place in shared memory; l2 goes past the first-level cache, as the document's\n"
        "GPU did. Counts are of all executions, by place in block and warp of 32\n"
        "start: kernel1 whose blocks take tickets as they start; shares of blocks with "
        "consecutive\n"
        "numbers; displacement: the most by which a ticket differs from the block's number\n",
        kComponents);
    ProbeRows rows(record);
    rows.measure_kernels();
    rows.measure_starts();
  }
}

}  // namespace tessera
