// This function picks the strategies that suit a form.
#pragma once

#include <string>
#include <vector>

#include "operators/strategy.hpp"
#include "operators/tensor/geometry_choice.hpp"

namespace tessera::testing {

/// Those of the strategies that are for the form.
inline std::vector<StrategyName> suitable(std::vector<StrategyName> strategies,
                                          const BilinearForm& form,
                                          Processor processor = Processor::cpu) {
  std::erase_if(strategies, [&](const StrategyName& strategy) {
    return !why_unsuitable(strategy, form, processor).empty();
  });
  return strategies;
}

/// All strategies of the host that are for the form.
inline std::vector<StrategyName> suitable_strategies(const BilinearForm& form) {
  return suitable(all_strategies(), form);
}

/// A strategy with a form that differs from the problem's by its geometry at most.
struct Variant {
  StrategyName strategy;
  BilinearForm form;

  /// "tensor/coloring stored".
  std::string text() const {
    return strategy.text() + " " + std::string(geometry_name(form.geometry));
  }
};

/// Those of the strategies that are for the form, each with every geometry that it can have.
inline std::vector<Variant> variants(const std::vector<StrategyName>& strategies,
                                     const BilinearForm& form,
                                     Processor processor = Processor::cpu) {
  std::vector<Variant> all;
  for (const StrategyName& strategy : suitable(strategies, form, processor)) {
    const GeometrySetting setting = geometry_setting(form, processor, strategy.scatter);
    all.push_back({strategy, form});
    if (!has_geometry_forms(strategy.kernel, setting.factors)) continue;
    for (const GeometryForm geometry : geometry_forms(setting)) {
      if (geometry == form.geometry) continue;
      all.push_back({strategy, form});
      all.back().form.geometry = geometry;
    }
  }
  return all;
}

/// All variants on the host.
inline std::vector<Variant> host_variants(const BilinearForm& form) {
  return variants(all_strategies(), form);
}

}  // namespace tessera::testing
