// A BlockProbe runs kernels side by side on the GPU and sees where their blocks start.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/studies/block_scheduling/kernel_sequences.hpp"

namespace tessera {

/// The GPU in use as a model has it, without its order. @throws DeviceError
[[nodiscard]] GpuModel present_gpu();

/// Kernels that do nothing but hold what they were given until they are told to end. There is one
/// for each number of registers, and it takes as many. Builds without CUDA must not make one.
class BlockProbe {
 public:
  /// The most kernels that run() takes.
  static constexpr int kMaxKernels = 32;

  /// Runs each kernel once, so that CUDA has loaded it and has given threads as much local memory
  /// as the largest needs. @throws DeviceError
  BlockProbe();
  ~BlockProbe();
  BlockProbe(const BlockProbe&) = delete;
  BlockProbe& operator=(const BlockProbe&) = delete;

  /// The numbers of registers that kernels can have: 24, 32, ..., 248, 255.
  [[nodiscard]] static const std::vector<int>& registers();
  /// Registers that the compiler gave the kernel which is to have so many. @throws DeviceError
  [[nodiscard]] int compiled_registers(int registers) const;
  /// The most shared memory of a block, bytes.
  [[nodiscard]] int max_shared_bytes() const;

  /// Starts the kernels one after another, each in a stream of its own, once all blocks of the one
  /// before it have started or none has for some milliseconds; before the last one, ends those that
  /// `ended` numbers. All have ended when it returns.
  /// @returns which blocks had started before the others were ended
  /// @throws DeviceError, std::invalid_argument for a kernel that there is not
  [[nodiscard]] BlockPlaces run(std::span<const KernelLaunch> kernels,
                                std::span<const int> ended = {});

  /// The multiprocessors in the sequence in which an idle GPU takes blocks of which each fills one.
  [[nodiscard]] std::vector<int> tie_order();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera
