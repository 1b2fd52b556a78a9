// These are the names of the kernels and scatter policies that a case may use.
#pragma once

#include <string>
#include <vector>

#include "operators/cells/scatter.hpp"
#include "operators/strategy.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// What operator.kernel and operator.scatter may be, besides "none".
struct StrategyNames {
  std::vector<KernelName> kernels;
  std::vector<std::string> scatters;
};

inline StrategyNames strategy_names() {
  StrategyNames names;
  for (const KernelInfo& kernel : kernel_table()) {
    names.kernels.push_back({std::string(kernel.name), kernel.scatter == TakesScatter::yes});
  }
  for (const ScatterInfo& scatter : scatter_table()) names.scatters.emplace_back(scatter.name);
  return names;
}

}  // namespace tessera
