// A MemoryEstimate is the memory of a run, known before it begins.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/index.hpp"
#include "operators/strategy.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// Bytes of one thing that a run holds.
struct MemoryPart {
  std::string name;
  Index bytes;
};

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
  /// @param whose "memory" or "GPU memory"
  NotEnoughMemory(std::string_view whose, const MemoryPhase& peak, Index available);
};

/// The program itself with its libraries, and what each thread has of its own.
inline constexpr Index kProgramBytes = Index{24} << 20;
inline constexpr Index kThreadBytes = Index{128} << 10;
/// CUDA's runtime in the memory of the host, and what its libraries take of the GPU's beside their
/// context.
inline constexpr Index kCudaProgramBytes = Index{384} << 20;
inline constexpr Index kCudaLibraryBytes = Index{128} << 20;

/// Bytes of a value of the operator and the solver's vectors.
Index value_bytes(Precision precision);

/// Whether factors are shared, scaled or general for this case.
FactorKind case_factor_kind(const CaseParameters& parameters);

/// The processor that the case's operator and solver run on.
Processor case_processor(const CaseParameters& parameters);

/// The faces of the case with Dirichlet conditions.
FaceSet case_dirichlet_faces(const CaseParameters& parameters);

/// f(size) with the size of the case's operators with a kernel, on a mesh that may be a coarser
/// level's.
Index with_operator_size(const CaseParameters& parameters, const BoxMesh& mesh,
                         const std::string& kernel,
                         const std::function<Index(const OperatorSize&)>& f);

/// Bytes of a strategy for the case on its processor: held, and the most while it is made.
struct StrategyBytes {
  Index held;
  Index peak;
};
StrategyBytes strategy_bytes(const CaseParameters& parameters, const StrategyName& strategy);
/// The same on another mesh of as many cells, such as a coarser level's.
StrategyBytes strategy_bytes(const CaseParameters& parameters, const BoxMesh& mesh,
                             const StrategyName& strategy);

/// The host's memory in a run of the case with this strategy.
MemoryEstimate estimate_memory(const CaseParameters& parameters, const StrategyName& strategy);

/// The GPU's memory in a run of the case on it.
MemoryEstimate estimate_gpu_memory(const CaseParameters& parameters, const StrategyName& strategy);

/// @throws NotEnoughMemory
void require_memory(const MemoryEstimate& estimate, Index available);
void require_gpu_memory(const MemoryEstimate& estimate, Index available);

}  // namespace tessera
