// A DeviceOrderProbe runs the kernels of the order probe on the GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "solvers/memory/device_array.hpp"
#include "src/studies/update_order/order_probe.hpp"

namespace tessera {

/// One way to probe.
struct ProbeSetup {
  ProbeKernel kernel = ProbeKernel::kernel1;
  LoadPath path = LoadPath::l2;
  /// Threads of a block: 8, 16, 32, 64, 128 or 256; of kernel2 128 or 256.
  int block = 256;
};

/// The block sizes that a kernel has.
[[nodiscard]] std::vector<int> probe_blocks(ProbeKernel kernel);

/// What so many executions left.
struct ProbeResult {
  std::int64_t executions = 0;
  InconsistencyCounts counts = {};
  /// Components that can be no result: neither 0 nor 1, an end that is not 1, or a 1 between ones.
  std::int64_t faults = 0;
  /// Of an execution with its count, in each batch of executions.
  std::vector<double> seconds = {};
};

/// Two vectors in GPU memory that take turns: while the one is looked at, the other becomes ones.
class DeviceOrderProbe {
 public:
  /// Executions of a batch, which is one CUDA graph of two launches each.
  static constexpr int kBatch = 100;

  /// @param components a multiple of kProbePeriod @throws DeviceOutOfMemory
  explicit DeviceOrderProbe(Index components);

  /// Executes at least so often, in whole batches. @throws Interrupted between two batches,
  /// DeviceError, std::invalid_argument for a block size that the kernel does not have
  [[nodiscard]] ProbeResult run(const ProbeSetup& setup, std::int64_t executions);

  /// One execution of kernel1 past the first-level cache, in which each block first takes a ticket.
  [[nodiscard]] std::vector<BlockStart> starts(int block);
  /// How many blocks of starts() run at a time: the first wave.
  [[nodiscard]] Index resident_blocks_of_starts(int block) const;

 private:
  void enqueue(const ProbeSetup& setup, DeviceArray<double>& from, DeviceArray<double>& next);

  DeviceArray<double> ones_;
  DeviceArray<double> even_;
  DeviceArray<double> odd_;
  // kProbePeriod counts, and the faults.
  DeviceArray<unsigned long long> counts_;
};

}  // namespace tessera
