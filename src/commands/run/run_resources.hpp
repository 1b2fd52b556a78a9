// RunResources are the threads, the memory and the GPUs of a run.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mesh/partition/box_partition.hpp"
#include "src/commands/run/run_output.hpp"
#include "src/machine/rank_gpus.hpp"
#include "src/machine/rank_places.hpp"

namespace tessera {

/// What a run gets of its machine before any work, as one process or as one of several ranks; the
/// record says it. All ranks take the same decisions, and call each function together.
class RunResources {
 public:
  /// Both must outlive this.
  RunResources(RunRecord& run, const Communicator& ranks) : run_(run), ranks_(ranks) {}

  /// Where the ranks are, and which GPU each has: before anything happens on one.
  /// @throws NoDevice
  void find_ranks();
  /// Threads, and whether there is memory enough for the case with its strategy, here and on the
  /// GPU. @throws NotEnoughMemory, NoDevice
  void take();

  /// Bytes foreseen at most, on the host with most processes, and on a GPU.
  Index peak_bytes() const { return peak_bytes_; }
  Index gpu_peak_bytes() const { return gpu_peak_bytes_; }
  /// What moves values between the GPUs of several ranks; else null.
  const std::shared_ptr<const DeviceCarrier>& carrier() const { return carrier_; }

 private:
  // Both return the peak.
  [[nodiscard]] Index take_process() const;
  Index take_rank();
  void choose_rank_gpus();
  void take_rank_gpu();
  void take_gpu();

  RunRecord& run_;
  const Communicator& ranks_;
  std::vector<RankPlace> places_;
  std::vector<RankGpu> gpus_;
  std::shared_ptr<const DeviceCarrier> carrier_;
  std::optional<BoxPartition> partition_;
  Index peak_bytes_ = 0;
  Index gpu_peak_bytes_ = 0;
};

}  // namespace tessera
