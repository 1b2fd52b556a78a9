// The strategies that are for a form, with every storage of factors that they can have.
#pragma once

#include <string>
#include <vector>

#include "operators/strategy.hpp"
#include "operators/tensor/factor_choice.hpp"

namespace tessera::testing {

inline FormShape shape_on(const BilinearForm& form, Processor processor = Processor::cpu) {
  return form_shape(form, processor, sizeof(double));
}

/// Of a form on a mapped mesh with a coefficient that varies, one point more than the degree and no
/// Dirichlet faces.
inline FormShape mapped_shape(Processor processor, const BoxMesh& mesh, int degree) {
  return {
      processor,        sizeof(double),           mesh,     NodeLattice(mesh, degree), degree + 1,
      MeshKind::mapped, CoefficientKind::general, FaceSet{}};
}

/// Those of the strategies that are for the form.
inline std::vector<StrategyName> suitable(std::vector<StrategyName> strategies,
                                          const BilinearForm& form,
                                          Processor processor = Processor::cpu) {
  const FormShape shape = shape_on(form, processor);
  std::erase_if(strategies, [&](const StrategyName& strategy) {
    return !why_unsuitable(strategy, shape).empty();
  });
  return strategies;
}

/// All strategies of the host that are for the form.
inline std::vector<StrategyName> suitable_strategies(const BilinearForm& form) {
  return suitable(all_strategies(), form);
}

/// Those of the strategies that are for the form, each with every storage of factors that it can
/// have.
inline std::vector<StrategyName> variants(const std::vector<StrategyName>& strategies,
                                          const BilinearForm& form,
                                          Processor processor = Processor::cpu) {
  const FormShape shape = shape_on(form, processor);
  std::vector<StrategyName> all;
  for (const StrategyName& strategy : suitable(strategies, form, processor)) {
    if (!has_factor_storages(strategy.kernel, shape)) {
      all.push_back(strategy);
      continue;
    }
    for (const FactorStorage storage : factor_storages(strategy.scatter, shape)) {
      all.push_back({strategy.kernel, strategy.scatter, storage});
    }
  }
  return all;
}

/// All variants on the host.
inline std::vector<StrategyName> host_variants(const BilinearForm& form) {
  return variants(all_strategies(), form);
}

}  // namespace tessera::testing
