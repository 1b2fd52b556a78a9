#pragma once

#include <stdexcept>
#include <string>
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
  NotEnoughMemory(const MemoryPhase& peak, Index available);
};

/// The program itself with its libraries.
inline constexpr Index kProgramBytes = Index{48} << 20;

/// Bytes of a value of the operator and the solver's vectors.
Index value_bytes(Precision precision);

/// Whether factors are shared, scaled or general for this case.
FactorKind case_factor_kind(const CaseParameters& parameters);

/// Bytes of a strategy for the case: held, and the most while it is made.
struct StrategyBytes {
  Index held;
  Index peak;
};
StrategyBytes strategy_bytes(const CaseParameters& parameters, const StrategyName& strategy);

/// The memory of a run of the case with this strategy.
MemoryEstimate estimate_memory(const CaseParameters& parameters, const StrategyName& strategy);

/// @throws NotEnoughMemory
void require_memory(const MemoryEstimate& estimate, Index available);

}  // namespace tessera
