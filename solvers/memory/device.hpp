// These functions describe the GPU in use, wait for it and measure its time and memory.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "solvers/configuration.hpp"

namespace tessera {

/// No usable GPU: none there, no driver, a driver too old for this build, or one taken by others.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A CUDA or cuSPARSE call that failed; what() names the operation and the library's reason.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A GPU allocation that failed although memory was foreseen; what() says how much was asked for.
class DeviceOutOfMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// The GPU in use. Sizes in bytes.
struct DeviceInfo {
  std::string name;
  std::string pci_bus_id;  // "0000:3b:00.0"
  int major = 0;           // compute capability
  int minor = 0;
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t free_bytes = 0;
  int driver_version = 0;  // the newest CUDA that the driver serves, 1000 major + 10 minor
};

/// The GPU that this process uses, the first that CUDA_VISIBLE_DEVICES leaves.
/// @throws NoDevice with one line that says what is missing
DeviceInfo require_device();

/// Waits until the GPU has done all that was asked of it. @throws DeviceError
void synchronize_device();

/// Bytes per second of y = x on the GPU, x read and y written, from arrays of 2 GiB or a quarter of
/// the free memory if that is less: the best of several. @throws DeviceError
/// Its memory is no part of peak_device_bytes(): it takes no more than half of what is free.
double measure_device_copy_bandwidth();

/// The most bytes of DeviceArrays that there were at the same time so far: vectors, operators,
/// preconditioners and the workspaces of libraries, without CUDA's context and the libraries' own
/// memory.
std::int64_t peak_device_bytes();

/// Seconds between two points of the GPU's own time line.
class DeviceStopwatch {
 public:
  DeviceStopwatch();

  void start();
  /// Waits for the GPU to come here.
  double stop();

 private:
  // Events of CUDA, whose types only device code knows.
  struct DestroyEvent {
    void operator()(void* event) const;
  };
  using Event = std::unique_ptr<void, DestroyEvent>;
  static Event make_event();

  Event begin_;
  Event end_;
};

}  // namespace tessera
