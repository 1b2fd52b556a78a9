// The table of studies.
#pragma once

#include <string>
#include <vector>

#include "src/studies/claims.hpp"
#include "src/studies/study_options.hpp"

namespace tessera {

class StudyRecord;

/// A study: an experiment on how threads and GPU blocks share data, and claims of a document that
/// it tests. Lists, help and tests go through the table of these.
struct StudyInfo {
  std::string name;
  std::string question = {};
  std::string document = {};
  /// What it needs, in words: "CPU; hardware transactions (RTM) for some rows".
  std::string needs = {};
  std::vector<Processor> processors = {};
  /// What --only takes, in the order of the rows.
  std::vector<std::string> variants = {};
  std::vector<OwnOption> options = {};
  StudyLayout layout = {};
  std::vector<Claim> claims = {};
  /// Measures: says on what and what cannot be here, then adds row by row. The options are
  /// record.options(). @throws Interrupted between two repetitions, with the rows so far kept
  void (*measure)(StudyRecord& record) = nullptr;

  bool runs_on(Processor processor) const;
};

const std::vector<StudyInfo>& studies();

/// @throws InputError for a name that is none
const StudyInfo& find_study(const std::string& name);

/// The table as `tessera study` prints it, with each study's own options.
std::string study_list();

}  // namespace tessera
