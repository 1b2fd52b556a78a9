// These are the names of the kernels and scatter policies that a case may use.
#pragma once

#include <fmt/format.h>

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
    names.kernels.push_back({.name = std::string(kernel.name),
                             .takes_scatter = kernel.scatter == TakesScatter::yes,
                             .min_dofs_on_gpu = kernel.min_dofs_text});
  }
  for (const ScatterInfo& scatter : scatter_table()) names.scatters.emplace_back(scatter.name);
  return names;
}

/// What operator.kernel of a run may be on the processor, kAuto first.
inline std::vector<std::string> run_kernels(Processor processor) {
  std::vector<std::string> names = {kAuto};
  for (const KernelInfo& kernel : kernel_table()) {
    if (kernel.runs_on(processor)) names.emplace_back(kernel.name);
  }
  return names;
}

/// What operator.scatter of a run may be for the kernel, which takes one, on the processor; kAuto
/// first.
inline std::vector<std::string> run_scatters(const std::string& kernel, Processor processor) {
  std::vector<std::string> names = {kAuto};
  for (const ScatterInfo& scatter : scatter_table()) {
    if (scatter.use != ScatterUse::all) continue;
    const std::string name(scatter.name);
    if (why_unavailable({kernel, name}, processor).empty()) names.push_back(name);
  }
  return names;
}

/// "a", "b", "c": names as a message tells what is allowed.
inline std::string quoted_list(const std::vector<std::string>& names) {
  return fmt::format("\"{}\"", fmt::join(names, "\", \""));
}

}  // namespace tessera
