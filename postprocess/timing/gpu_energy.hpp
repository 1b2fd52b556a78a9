// A GpuEnergyCounter reads the energy counter of a GPU.
#pragma once

#include <memory>
#include <string>

namespace tessera {

/// The file of NVML.
inline constexpr char kNvmlLibrary[] = "libnvidia-ml.so.1";

/// Joules of one GPU by NVML, which is loaded when the program runs: nothing is linked against it.
/// The counter covers all that runs on the GPU and its memory; it is updated every 20 to 100 ms.
class GpuEnergyCounter {
 public:
  /// Reads the counter for the first time.
  /// @param library   file of NVML
  /// @param bus_id    the GPU as DeviceInfo::pci_bus_id names it
  GpuEnergyCounter(const std::string& library, const std::string& bus_id);
  ~GpuEnergyCounter();
  GpuEnergyCounter(const GpuEnergyCounter&) = delete;
  GpuEnergyCounter& operator=(const GpuEnergyCounter&) = delete;

  /// Reads the counter again.
  void sample();

  /// Why nothing is measured; empty if something is.
  const std::string& failure() const { return failure_; }
  /// From the first sample to the last one.
  double joules() const { return 1e-3 * static_cast<double>(last_ - first_); }

 private:
  friend void start_gpu_energy(const std::string& library);
  struct Nvml;

  unsigned long long read();

  std::unique_ptr<Nvml> nvml_;
  std::string failure_;
  unsigned long long first_ = 0;  // mJ since the driver was loaded
  unsigned long long last_ = 0;
};

/// Loads NVML in the background, until the program ends: the first GpuEnergyCounter of a process
/// otherwise waits some 20 ms for it. No variable of the environment may be set meanwhile.
void start_gpu_energy(const std::string& library = kNvmlLibrary);

}  // namespace tessera
