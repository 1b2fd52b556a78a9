// These functions describe the GPU in use, wait for it and measure its time and memory.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "solvers/configuration.hpp"
#include "solvers/execution.hpp"

namespace tessera {

/// There is no usable GPU: none is installed, there is no driver or one that is too old for this
/// build, or another program has taken the GPU.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A CUDA or cuSPARSE call that failed; what() names the operation and the library's reason.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A GPU allocation failed although the estimate of memory allowed it; what() says how much was
/// asked for.
class DeviceOutOfMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// The GPU in use; sizes are in bytes.
struct DeviceInfo {
  std::string name;
  std::string pci_bus_id;  // "0000:3b:00.0"
  int major = 0;           // compute capability
  int minor = 0;
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t free_bytes = 0;
  int driver_version = 0;  // the newest CUDA that the driver serves, 1000 major + 10 minor
  std::int64_t l2_bytes = 0;
};

/// The GPU that this process uses, the first that CUDA_VISIBLE_DEVICES leaves.
/// @throws NoDevice with one line that says what is missing
DeviceInfo require_device();

/// So many processes use the GPU: what each of them keeps of memory that was given back is less.
void share_device(int processes);

/// Waits until the GPU has done all that was asked of it. @throws DeviceError
void synchronize_device();
/// The same if data live there.
template <class Space>
void synchronize() {
  if constexpr (std::is_same_v<Space, Device>) synchronize_device();
}

/// The bandwidth of y = x on the GPU in bytes per second, counting the reads of x and the writes of
/// y: the best of several runs on arrays of 2 GiB, or of a quarter of the free memory if that is
/// less. The arrays take at most half of what is free, and do not count in peak_device_bytes().
/// @throws DeviceError
double measure_device_copy_bandwidth();

/// How fast the GPU is where its memory is not in the way; floating-point operations count two for
/// a multiply-add, without those of tensor cores.
struct DevicePeaks {
  /// The better of y = x and of a sum of x, on arrays that take half of the L2 cache together.
  double l2_bytes_per_second = 0.0;
  double double_flops_per_second = 0.0;
  double single_flops_per_second = 0.0;
};

/// The best of several runs each, about 50 ms together. The arrays do not count in
/// peak_device_bytes(). @throws DeviceError
DevicePeaks measure_device_peaks();

/// The largest number of bytes that DeviceArrays have held at the same time so far: vectors,
/// operators, preconditioners and the workspaces of libraries, without CUDA's context and the
/// libraries' own memory.
std::int64_t peak_device_bytes();

/// Seconds between two points of the GPU's own time line.
class DeviceStopwatch {
 public:
  DeviceStopwatch();

  void start();
  /// Waits until the GPU has come to this point, and returns the seconds.
  double stop();

 private:
  // The pointers are events of CUDA, whose types only device code knows.
  struct DestroyEvent {
    void operator()(void* event) const;
  };
  using Event = std::unique_ptr<void, DestroyEvent>;
  static Event make_event();

  Event begin_;
  Event end_;
};

}  // namespace tessera
