// A MemoryEstimate is the memory of a run, known before it begins.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/index.hpp"
#include "operators/strategy.hpp"
#include "solvers/configuration.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// Bytes of one thing that a run holds.
struct MemoryPart {
  std::string name;
  Index bytes;
};

/// The name of the phase in which the picture is made.
inline constexpr char kDrawingPhase[] = "drawing solution.png";

/// The name of what preconditioners take.
inline constexpr char kPreconditionerPart[] = "preconditioner";

/// What is held at the same time in one phase of a run.
struct MemoryPhase {
  std::string name;
  std::vector<MemoryPart> parts;

  Index bytes() const;
};

/// The memory of a run, phase after phase, known from sizes alone.
struct MemoryEstimate {
  std::vector<MemoryPhase> phases;

  /// The phase that needs most.
  const MemoryPhase& peak() const;
};

/// Too little memory for what was asked.
class NotEnoughMemory : public std::runtime_error {
 public:
  /// @param whose as in require_memory()
  NotEnoughMemory(std::string_view whose, const MemoryPhase& peak, Index available);
};

/// The program itself with its libraries: 50 to 57 MiB were seen of a build for GPUs.
inline constexpr Index kProgramBytes = Index{kHasCuda ? 54 : 22} << 20;
/// What each thread has of its own.
inline constexpr Index kThreadBytes = Index{128} << 10;
/// What each of several processes takes for MPI: 9.7 MiB were seen of Open MPI 4.1.
inline constexpr Index kMpiBytes = Index{10} << 20;
/// CUDA's runtime in the memory of the host, of which 90 to 120 MiB were seen (CUDA 13, H200), and
/// what its libraries take of the GPU's beside their context.
inline constexpr Index kCudaProgramBytes = Index{144} << 20;
inline constexpr Index kCudaLibraryBytes = Index{128} << 20;

/// The host's memory in a run of the case with this strategy, which names a storage of factors
/// where that means anything.
MemoryEstimate estimate_memory(const CaseParameters& parameters, const StrategyName& strategy);

/// The GPU's memory in a run of the case on it.
MemoryEstimate estimate_gpu_memory(const CaseParameters& parameters, const StrategyName& strategy);

/// @param whose "memory" or "GPU memory"
/// @throws NotEnoughMemory
void require_memory(std::string_view whose, const MemoryEstimate& estimate, Index available);

}  // namespace tessera
