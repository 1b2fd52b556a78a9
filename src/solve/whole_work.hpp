// This function tells the work of an operator that ranks share.
#pragma once

#include <array>

#include "postprocess/timing/timers.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// Of one application, on all ranks together, which all call it.
template <class T, class Space>
Work work_of_all_ranks(const LinearOperator<T, Space>& a) {
  const VectorLayout layout = a.layout();
  const Cost cost = a.cost();
  std::array<double, 2> sums = {cost.bytes, cost.flops};
  if (layout.shared) layout.shared->ranks().sum(sums);
  return {static_cast<double>(layout.whole_size()), sums[0], sums[1]};
}

}  // namespace tessera
