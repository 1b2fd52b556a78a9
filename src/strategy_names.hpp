#pragma once

#include <string>
#include <vector>

#include "operators/scatter.hpp"
#include "operators/strategy.hpp"

namespace tessera {

/// What operator.kernel and operator.scatter may be, besides "none".
struct StrategyNames {
  std::vector<std::string> kernels;
  std::vector<std::string> scatters;
};

inline StrategyNames strategy_names() {
  StrategyNames names;
  for (const KernelInfo& kernel : kernel_table()) names.kernels.emplace_back(kernel.name);
  for (const ScatterInfo& scatter : scatter_table()) names.scatters.emplace_back(scatter.name);
  return names;
}

}  // namespace tessera
