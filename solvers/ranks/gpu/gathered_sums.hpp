// GatheredSums let every rank see on its GPU what all ranks have summed there.
#pragma once

#include <cstdint>

#include "solvers/memory/device_array.hpp"
#include "solvers/memory/vector_layout.hpp"

namespace tessera {

/// Some numbers of every rank, on the GPU of each: whoever adds them in the order of ranks has the
/// bits of all others.
class GatheredSums {
 public:
  /// @param layout of the vectors that are summed; @param max_count numbers at a time
  /// @throws DeviceOutOfMemory
  GatheredSums(const VectorLayout& layout, int max_count);

  /// Whether there are other ranks; a single one has nothing to gather.
  bool are_of_several() const { return layout_.shared != nullptr; }
  int rank_count() const { return are_of_several() ? layout_.shared->ranks().size() : 1; }
  /// Queues the gathering of the ranks' numbers, and returns where they will be, [rank][count].
  /// @param mine in GPU memory
  /// @throws DeviceError
  const double* gather(const double* mine, int count);
  /// Queues sums = the ranks' numbers added in their order: one kernel where the carrier can do
  /// that, else two and a message.
  /// @throws DeviceError
  void add(const double* mine, int count, double* sums);

 private:
  VectorLayout layout_;
  DeviceArray<double> all_;
};

}  // namespace tessera
