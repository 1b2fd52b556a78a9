// This file states bounds of the time on a GPU and judges whether measured rows keep them.
#include "src/studies/finishing_time/gpu_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tessera {
namespace {

/// Whether a metric is at most 1 in all rows of a variant.
Finding all_at_most_one(const StudyTable& table, const char* variant, const char* metric) {
  int rows = 0;
  int exceeding = 0;
  double largest = 0.0;
  for (const StudyRow& row : table.rows()) {
    if (row.variant != variant || !row.not_measured.empty()) continue;
    ++rows;
    const double share = table.metric(row, metric);
    largest = std::max(largest, share);
    if (share > 1.0) ++exceeding;
  }
  if (rows == 0) throw NotMeasured("needs a GPU");
  return finding(verdict_of(exceeding == 0),
                 fmt::format("{} of {} rows exceed it, the largest is {:.3g} of it", exceeding,
                             rows, largest));
}

}  // namespace

double graham_bound(std::span<const double> seconds, double slots) {
  const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  const double longest = *std::max_element(seconds.begin(), seconds.end());
  return sum / slots + (1.0 - 1.0 / slots) * longest;
}

double program_bound(int warps, int repetitions, double cycles_per_load,
                     double cycles_per_multiply_add, double chain) {
  return warps * ((2 * repetitions + 1) * cycles_per_load +
                  (repetitions + 1) * cycles_per_multiply_add) +
         chain;
}

Finding programs_keep_bounds(const StudyTable& table) {
  return all_at_most_one(table, kProgram, "of_bound");
}

Finding kernels_keep_bounds(const StudyTable& table) {
  return all_at_most_one(table, kKernel, "of_upper");
}

}  // namespace tessera
