// This file knows the least traffic of an operator.
#include "src/case/memory/application_bytes.hpp"

#include "mesh/saturated.hpp"

namespace tessera {

Index geometry_bytes(StrategyName strategy, FormShape shape) {
  if (strategy.kernel == "kronecker") return 0;
  // Buffers of a scatter policy are no geometry.
  if (find_kernel(strategy.kernel)->scatter == TakesScatter::yes) strategy.scatter = "atomic";
  // Mostly they are packed where they may be.
  if (strategy.factors == FactorStorage::compressed) shape.coefficient = CoefficientKind::constant;
  return operator_bytes(strategy, shape).held;
}

Index application_bytes(const StrategyName& strategy, const FormShape& shape) {
  return Saturated(shape.lattice.size()) * 2 * shape.value_bytes + geometry_bytes(strategy, shape);
}

}  // namespace tessera
