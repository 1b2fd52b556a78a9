// A BlockScheduler predicts on which multiprocessors a GPU starts the blocks of kernels.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace tessera {

inline constexpr int kSubPartitions = 4;

/// What the multiprocessors of a GPU have. Two neighbors, 2 k and 2 k + 1, share a texture
/// processing cluster, which divides its memory into L1 cache and shared memory.
struct GpuModel {
  std::string_view name;
  int multiprocessors;
  /// Of a multiprocessor.
  int blocks;
  /// Of one of its four sub-partitions.
  int warps;
  int registers;
  /// The amounts of shared memory that a multiprocessor can be set to, in KiB, increasing.
  std::vector<int> carve_outs;
  /// The multiprocessors in the sequence in which one of equals is taken; empty: 0, 2, 4, ... and
  /// then 1, 3, 5, ..., as on the GPU of the document.
  std::vector<int> order = {};
};

/// The GPU of the document, and compute capability 9.0 (H100, H200).
[[nodiscard]] const GpuModel& rtx_3090();
[[nodiscard]] const GpuModel& compute_capability_90();

/// A kernel as it is launched.
struct KernelLaunch {
  int blocks;
  int threads;    ///< of a block
  int registers;  ///< of a thread
  int shared_bytes = 0;
  int local_bytes = 0;  ///< of a thread

  bool operator==(const KernelLaunch&) const = default;
};

/// By which rule a multiprocessor takes a block: Algorithm 1, or simpler ones that know neither
/// sub-partitions nor carve-outs: the most room for blocks like it, or the next multiprocessor in
/// turn that has room.
enum class PlacementRule { algorithm_1, max_room, in_turn };

/// Kernels, each in a stream of its own, on a GPU that behaves as Algorithm 1 of the document says
/// with the errors of its listing repaired: limits by warps are divided by the warps of a block,
/// and a multiprocessor is compared by what fits from its pointer on.
///
/// Each block goes where the most blocks like it would fit. Among equals, the multiprocessors 0, 2,
/// 4, ... come before 1, 3, 5, ... Warps go to sub-partitions strictly in turn, and a block waits
/// rather than skip a full one. Registers of a sub-partition need not be contiguous, shared memory
/// must be. A cluster keeps its carve-out while it is busy. Kernels wait in sequence: none
/// overtakes one that waits.
class BlockScheduler {
 public:
  explicit BlockScheduler(GpuModel gpu, PlacementRule rule = PlacementRule::algorithm_1);

  /// Starts as many blocks of it as fit, unless an earlier kernel waits.
  /// @returns the kernel's number, from 0 on
  /// @throws std::invalid_argument if no multiprocessor could ever take a block of it
  int launch(const KernelLaunch& kernel);

  /// Ends all blocks of a kernel that have started, and starts what waited for their room.
  /// @throws std::logic_error if blocks of it still wait
  void finish(int kernel);

  /// The multiprocessors of the kernel's blocks that have started, in the order of the blocks.
  [[nodiscard]] const std::vector<int>& places(int kernel) const;
  [[nodiscard]] bool waits(int kernel) const;

 private:
  struct SharedRange {
    int begin;
    int end;
  };
  /// Where a block is, and what it has there.
  struct Block {
    int kernel;
    std::array<int, kSubPartitions> warps;
    int registers_per_warp;
    SharedRange shared;
  };
  struct Multiprocessor {
    std::array<int, kSubPartitions> free_warps;
    std::array<int, kSubPartitions> free_registers;
    int next = 0;  ///< sub-partition of the next warp
    std::vector<Block> blocks;
  };
  /// A kernel and what a block of it needs.
  struct Kernel {
    KernelLaunch launch;
    int warps;
    int registers_per_warp;
    int shared;     ///< bytes, with those that CUDA reserves
    int carve_out;  ///< bytes
    std::vector<int> places;
  };

  [[nodiscard]] Kernel described(const KernelLaunch& launch) const;
  [[nodiscard]] static int blocks_by_warps(const Multiprocessor& multiprocessor,
                                           const Kernel& kernel);
  [[nodiscard]] bool is_busy() const;
  [[nodiscard]] bool is_cluster_busy(int multiprocessor) const;
  [[nodiscard]] int room(int multiprocessor, const Kernel& kernel) const;
  [[nodiscard]] int room_in_all(int multiprocessor, const Kernel& kernel) const;
  [[nodiscard]] SharedRange largest_gap(int multiprocessor) const;
  [[nodiscard]] std::optional<int> choose(const Kernel& kernel) const;
  [[nodiscard]] std::optional<int> next_in_turn(const Kernel& kernel) const;
  void place(int multiprocessor, int kernel);
  void start_waiting();

  GpuModel gpu_;
  PlacementRule rule_;
  std::vector<Multiprocessor> multiprocessors_;
  std::vector<int> carve_outs_;  ///< bytes, by cluster
  int local_bytes_ = 0;          ///< what the GPU has for each thread
  std::vector<Kernel> kernels_;
  std::size_t first_waiting_ = 0;
  /// Where in the order the next one in turn is.
  std::size_t turn_ = 0;
};

}  // namespace tessera
