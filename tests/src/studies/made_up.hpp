// Rows that nobody measured, to judge claims by.
#pragma once

#include <string>
#include <vector>

#include "src/studies/study_record.hpp"

namespace tessera::testing {

/// Times around a median: quartiles 1 % off.
inline Summary around(double median) {
  return {.count = 10,
          .minimum = 0.98 * median,
          .lower_quartile = 0.99 * median,
          .median = median,
          .upper_quartile = 1.01 * median};
}

/// The finding of a study's claim on a table.
inline Finding found(const std::string& study, const std::string& number, const StudyTable& table) {
  for (const Claim& claim : find_study(study).claims) {
    if (claim.number == number) return judge(claim, table);
  }
  return {.reason = "no such claim"};
}

inline std::string verdict(const std::string& study, const std::string& number,
                           const StudyTable& table) {
  return found(study, number, table).text();
}

/// Options of a study with its own, as typed.
inline StudyOptions options_of(const std::string& study, const std::vector<std::string>& own) {
  const StudyInfo& info = find_study(study);
  return {.pace = {.repetitions = 5, .time_limit_s = 0.01},
          .own = OwnValues(study, info.options, own, StudySize::full, Processor::cpu)};
}

}  // namespace tessera::testing
