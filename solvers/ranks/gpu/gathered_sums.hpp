// GatheredSums add on every GPU what all ranks have summed.
#pragma once

#include <cstdint>

#include "solvers/memory/device_array.hpp"
#include "solvers/memory/vector_layout.hpp"

namespace tessera {

/// Sums of numbers over all ranks, on the GPU of each, where all have the same bits.
class GatheredSums {
 public:
  /// @param layout of the vectors that are summed; @param max_count numbers at a time
  /// @throws DeviceOutOfMemory
  GatheredSums(const VectorLayout& layout, int max_count);

  /// Whether there are other ranks; a single one has nothing to add.
  bool are_of_several() const { return layout_.shared != nullptr; }
  /// Queues sums = the ranks' numbers added in their order: one kernel where the carrier can do
  /// that, else a message and a kernel.
  /// @param mine in GPU memory, as sums
  /// @throws DeviceError
  void add(const double* mine, int count, double* sums);

 private:
  VectorLayout layout_;
  DeviceArray<double> all_;  // [rank][count]
};

}  // namespace tessera
