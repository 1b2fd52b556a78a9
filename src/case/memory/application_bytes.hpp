// These functions know what an application of an operator moves before it is made.
#pragma once

#include "operators/strategy.hpp"

namespace tessera {

/// Least bytes of geometry that an application y = A x reads.
Index geometry_bytes(StrategyName strategy, FormShape shape);

/// Least bytes that an application y = A x moves: what it reads of the operator, x and y.
Index application_bytes(const StrategyName& strategy, const FormShape& shape);

}  // namespace tessera
