// The columns of the study aggregation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/studies/study_table.hpp"

namespace tessera {

/// The parameters of a row; each part of the study has its own, and the others are empty.
struct AggregationParameters {
  std::string part;
  std::string bytes = {};         ///< of a message
  std::string active = {};        ///< the share of the threads that append
  std::string table = {};         ///< its size
  std::string destinations = {};  ///< how many
  std::string buffer = {};        ///< its size, of one destination or consumer
  std::string consumers = {};     ///< host threads
  std::string timeout_us = {};    ///< after which a buffer goes that is not full
  std::string mesh = {};

  std::vector<std::string> cells() const;
};

/// The metrics of a row; what is not known is empty.
struct AggregationMetrics {
  std::optional<double> billions_per_s = {};  ///< messages, updates or points
  std::optional<double> gigabytes_per_s = {};
  std::optional<double> atomics_per_message = {};  ///< reservations
  std::optional<double> share_of_copy = {};        ///< of the bytes per second of a copy
  std::optional<double> buffers = {};              ///< that went
  std::optional<double> mean_fill = {};            ///< of these
  std::optional<double> poll_percent = {};         ///< of the consumers' time

  std::vector<StudyCell> cells() const;
};

/// The layout of the study: these columns.
StudyLayout aggregation_layout();

/// The parameters of rows.
AggregationParameters append_parameters(int bytes, double active);
AggregationParameters update_parameters(std::int64_t table_bytes);
AggregationParameters routing_parameters(int destinations, std::int64_t buffer_bytes);
AggregationParameters queue_parameters(int bytes, int consumers, int timeout_us);
AggregationParameters pinned_copy_parameters();
AggregationParameters divergence_parameters();
AggregationParameters probe_parameters(const std::string& mesh);

/// Sets a row's metrics and, unless it is empty, what is wrong with its result.
void conclude_row(const AggregationMetrics& metrics, std::string wrong, StudyRow& row);

/// "block-256".
std::string block_variant(int threads);

}  // namespace tessera
