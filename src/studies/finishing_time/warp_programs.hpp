// WarpPrograms run the program of the study finishing-time on the GPU and read its clocks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tessera {

/// Threads of a warp of today's GPUs.
inline constexpr int kThreadsPerGpuWarp = 32;

/// What each warp runs: C (L L C)^r S, so many loads alone, or so many multiply-adds alone.
enum class WarpWork { program, loads, multiply_adds };
/// Instructions of the latter two.
inline constexpr int kInstructionsAlone = 64;

/// Where loads and stores go: shared memory; global memory that is in the L1 cache, in the L2 cache
/// or in neither.
enum class ProgramMemory { shared, l1, l2, dram };

enum class ProgramScalar { single_precision, double_precision };

/// One way to run it.
struct ProgramSetup {
  WarpWork work = WarpWork::program;
  ProgramScalar scalar = ProgramScalar::single_precision;
  ProgramMemory memory = ProgramMemory::shared;
  /// r, of program_repetitions(); nothing to loads and multiply-adds alone.
  int repetitions = 1;
  /// Warps on each multiprocessor: 1 to 32, of one block, or 64, of two that start together.
  int warps = 1;
};

/// The r that there are kernels for.
[[nodiscard]] const std::vector<int>& program_repetitions();

/// Blocks that lasted so long each, and all of them together, in seconds.
struct TimedBlocks {
  std::vector<double> seconds = {};
  double all = 0.0;
  /// Blocks that the GPU holds at a time.
  std::int64_t slots = 0;
};

/// Builds without CUDA must not make one.
class WarpPrograms {
 public:
  /// @throws DeviceOutOfMemory, DeviceError
  WarpPrograms();
  ~WarpPrograms();
  WarpPrograms(const WarpPrograms&) = delete;
  WarpPrograms& operator=(const WarpPrograms&) = delete;

  /// Whether a multiprocessor has the registers for so many warps.
  /// @throws std::invalid_argument for a setup that there is not
  [[nodiscard]] static bool holds(const ProgramSetup& setup);

  /// Cycles from the first start to the last end on a multiprocessor, the largest of all
  /// multiprocessors, launch by launch. Each launch runs the program twice; the first time loads
  /// instructions, and data but those of ProgramMemory::dram.
  /// @throws DeviceError, std::invalid_argument for a setup that there is not, or that no
  ///         multiprocessor holds
  [[nodiscard]] std::vector<double> cycles(const ProgramSetup& setup, int launches);

  /// Blocks that wait for so many nanoseconds each, on whatever multiprocessor takes them.
  [[nodiscard]] TimedBlocks waiting_blocks(const std::vector<std::uint64_t>& nanoseconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera
