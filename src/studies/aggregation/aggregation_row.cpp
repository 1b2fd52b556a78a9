// This file names the parameters of the rows of the study aggregation.
#include "src/studies/aggregation/aggregation_row.hpp"

#include <fmt/format.h>

#include <utility>

#include "postprocess/files/human_units.hpp"

namespace tessera {
namespace {

StudyCell cell_of(const std::optional<double>& number) {
  return number ? StudyCell(*number) : StudyCell();
}

std::string size_text(std::int64_t bytes) { return human_bytes(static_cast<double>(bytes)); }

}  // namespace

std::vector<std::string> AggregationParameters::cells() const {
  return {part, bytes, active, table, destinations, buffer, consumers, timeout_us, mesh};
}

std::vector<StudyCell> AggregationMetrics::cells() const {
  return {cell_of(billions_per_s), cell_of(gigabytes_per_s), cell_of(atomics_per_message),
          cell_of(share_of_copy),  cell_of(buffers),         cell_of(mean_fill),
          cell_of(poll_percent)};
}

StudyLayout aggregation_layout() {
  return {.parameters = {{"part"},
                         {"bytes"},
                         {"active"},
                         {"table"},
                         {"destinations", "N"},
                         {"buffer"},
                         {"consumers"},
                         {"timeout_us", "us"},
                         {"mesh"}},
          .metrics = {{"billions_per_s", "G/s"},
                      {"gigabytes_per_s", "GB/s"},
                      {"atomics_per_message", "atomics"},
                      {"share_of_copy", "of copy"},
                      {"buffers"},
                      {"mean_fill", "fill"},
                      {"poll_percent", "poll%"}},
          .time_unit = "ms"};
}

AggregationParameters append_parameters(int bytes, double active) {
  return {
      .part = "append", .bytes = std::to_string(bytes), .active = fmt::format("{:.3g}", active)};
}

AggregationParameters update_parameters(std::int64_t table_bytes) {
  return {.part = "updates", .table = size_text(table_bytes)};
}

AggregationParameters routing_parameters(int destinations, std::int64_t buffer_bytes) {
  return {.part = "routing",
          .destinations = std::to_string(destinations),
          .buffer = size_text(buffer_bytes)};
}

AggregationParameters queue_parameters(int bytes, int consumers, int timeout_us) {
  return {.part = "queue",
          .bytes = std::to_string(bytes),
          .consumers = std::to_string(consumers),
          .timeout_us = std::to_string(timeout_us)};
}

AggregationParameters pinned_copy_parameters() { return {.part = "queue"}; }

AggregationParameters divergence_parameters() { return {.part = "divergence"}; }

AggregationParameters probe_parameters(const std::string& mesh) {
  return {.part = "probes", .mesh = mesh};
}

void conclude_row(const AggregationMetrics& metrics, std::string wrong, StudyRow& row) {
  row.shown_per_second = 1e3;
  row.metrics = metrics.cells();
  if (wrong.empty()) return;
  row.correctness = Correctness::wrong;
  row.wrong = std::move(wrong);
}

std::string block_variant(int threads) { return fmt::format("block-{}", threads); }

}  // namespace tessera
