#pragma once

#include <vector>

#include "operators/strategy.hpp"

namespace tessera::testing {

/// Those of the strategies that are for the form.
inline std::vector<StrategyName> suitable(std::vector<StrategyName> strategies,
                                          const StiffnessForm& form) {
  std::erase_if(strategies, [&](const StrategyName& strategy) {
    return !why_unsuitable(strategy, form).empty();
  });
  return strategies;
}

/// All strategies of the host that are for the form.
inline std::vector<StrategyName> suitable_strategies(const StiffnessForm& form) {
  return suitable(all_strategies(), form);
}

}  // namespace tessera::testing
