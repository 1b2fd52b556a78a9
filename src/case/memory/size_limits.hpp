// These limits depend on the size of a case, not on memory.
#pragma once

#include <string>
#include <vector>

#include "src/parameters/case_parameters.hpp"
#include "src/parameters/messages/findings.hpp"

namespace tessera {

/// A choice that is not for a case of this size.
struct SizeProblem {
  /// Of the choice.
  std::string key;
  /// What the limit is and what it meets, in a user's words.
  std::string limit;
  /// What is possible instead, in a case.
  std::string instead;

  std::string message() const { return limit + "; " + instead; }
};

/// What the sizes of a case rule out, whatever memory there is: counts of 32 bits, and
/// eigenproblems of fast diagonalization that take longer than half an hour.
std::vector<SizeProblem> size_problems(const CaseParameters& parameters);

/// Reports them, so that neither `run` nor `check` begins; part of the checks of a case.
void check_sizes(const CaseParameters& parameters, Findings& findings);

/// What takes long before the first iteration, in a user's words.
std::vector<std::string> size_notes(const CaseParameters& parameters);

}  // namespace tessera
