// These texts are what a run says on the screen before and after its work.
#pragma once

#include <string>
#include <vector>

#include "src/case/memory/memory_estimate.hpp"
#include "src/commands/run/run_output.hpp"

namespace tessera {

/// What a run foresees of its memory, and what there is of it, in bytes.
struct RunMemory {
  Index peak_bytes = 0;
  Index available_bytes = 0;
  /// Where the run is on a GPU; what is free there is in the record.
  Index gpu_peak_bytes = 0;
};

/// The case, what stands for each `auto` and why, and the memory: the first lines of a run.
/// @param run of which parameters, choices, strategy and gpu are set
std::string case_text(const RunRecord& run, const RunMemory& memory);

/// How the solve ended, the solution in numbers, where the time went and where the results are.
/// @param run whose results have been written
std::string results_text(const RunRecord& run);

/// Why the solve did not succeed, and what may help: a line each.
std::vector<std::string> failure_lines(const RunRecord& run);

}  // namespace tessera
