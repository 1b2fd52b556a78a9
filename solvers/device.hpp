#pragma once

#include <cstdint>
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
double measure_device_copy_bandwidth();

/// Seconds between two points of the GPU's own time line.
class DeviceStopwatch {
 public:
  DeviceStopwatch();
  ~DeviceStopwatch();
  DeviceStopwatch(const DeviceStopwatch&) = delete;
  DeviceStopwatch& operator=(const DeviceStopwatch&) = delete;

  void start();
  /// Waits for the GPU to come here.
  double stop();

 private:
  void* begin_ = nullptr;
  void* end_ = nullptr;
};

}  // namespace tessera
