// These are the nine sequences of kernels by which the document shows how a GPU places blocks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/studies/block_scheduling/kernel_sequences.hpp"

namespace tessera {

/// Kernels in sequence, of which some end before the last one is launched.
struct SchedulingCase {
  std::string_view number;
  std::string_view shows;
  std::vector<KernelLaunch> kernels;
  /// Numbers of the kernels that end, from 0 on.
  std::vector<int> ended;
  /// Where the kernels of interest are: "even" or "odd" multiprocessors, "all", "SM 1", or "waits";
  /// all kernels of a case of three, the last one of others.
  std::string_view result;
};

/// The cases for a GPU. Those of an RTX 3090 are the document's; for others, numbers of blocks are
/// scaled with the multiprocessors, and the shared memory of cases 1.4 and 4.2 is chosen for
/// compute capability 9.0.
[[nodiscard]] std::vector<SchedulingCase> scheduling_cases(const GpuModel& gpu);

/// Where the blocks of a case's kernels are, in the words of SchedulingCase::result; "one of each
/// two" for kernels that have one multiprocessor of each cluster, but neither all even nor all odd
/// ones.
[[nodiscard]] std::string described_places(const SchedulingCase& scheduling,
                                           const BlockPlaces& places, int multiprocessors);

/// What BlockScheduler makes of a case, in these words.
[[nodiscard]] std::string predicted_result(const GpuModel& gpu, const SchedulingCase& scheduling);

/// "41x256 32 48K" of blocks x threads, registers and shared memory of the kernels, equal neighbors
/// as "8 of 82x32 32".
[[nodiscard]] std::string kernels_text(const std::vector<KernelLaunch>& kernels);

}  // namespace tessera
