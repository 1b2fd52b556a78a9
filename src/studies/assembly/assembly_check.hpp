// These functions find out whether an assembled matrix is right.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/studies/assembly/assembly_target.hpp"
#include "src/studies/study_table.hpp"

namespace tessera {

/// The outcome of assembling ones.
struct CountingResult {
  /// Whether every nonzero has as many as triangles add to it, and the values nothing else.
  enum class Exactness { exact, wrong } exactness;
  /// Of all additions.
  double lost_share;
};

/// @param counts of addition_counts()
[[nodiscard]] CountingResult counting_result(const AssemblyTarget& target,
                                             const std::vector<Index>& counts,
                                             const std::vector<double>& values);

/// What is wrong with a stiffness matrix: an entry that differs from the serial one, is not
/// symmetric or not finite, a row whose sum is not 0, each by more than 1e-12 of the largest serial
/// entry. Empty: nothing is.
[[nodiscard]] std::string stiffness_fault(const AssemblyTarget& target,
                                          const std::vector<double>& values,
                                          const std::vector<double>& serial);

/// Whether threads add to entries without protection, so that additions may be lost.
enum class Races { no, yes };

/// Says in the row whether an assembly was right. One with races is wrong by design; as a race may
/// lose nothing in one run, it is looked for up to 100 times.
/// @param fault of stiffness_fault() @param count assembles ones and compares
void judge_assembly(StudyRow& row, Races races, const std::string& fault,
                    const std::function<CountingResult()>& count);

}  // namespace tessera
