// An EnergyMeter measures the joules of CPUs and GPU over a stretch of a run.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "postprocess/timing/clock.hpp"
#include "postprocess/timing/cpu_energy.hpp"
#include "postprocess/timing/gpu_energy.hpp"

namespace tessera {

/// Energy of the CPUs or of a GPU over a stretch of a run.
struct MeasuredEnergy {
  std::optional<double> joules;
  /// What the joules cover, or why there are none.
  std::string note;
};

struct EnergyUse {
  MeasuredEnergy cpu;
  std::optional<MeasuredEnergy> gpu;  // where one is in use

  /// The sum of what was measured; empty if nothing was.
  std::optional<double> joules() const;
  /// "CPU: packages and memory; GPU: not measured, no NVML (libnvidia-ml.so.1)".
  std::string note() const;
  /// "GPU 123 J, CPU not measured; 1.80 uJ a DoF" or "not measured (CPU: ...)".
  std::string text(double dofs) const;
};

/// Where an EnergyMeter reads.
struct EnergySources {
  std::string gpu_bus_id = {};  // of the GPU in use; empty: none is
  std::filesystem::path powercap = "/sys/class/powercap";
  std::string nvml = kNvmlLibrary;
  std::function<double()> seconds = seconds_now;
};

/// Stretches shorter than the steps in which counters are updated are not measured.
inline constexpr double kCpuEnergyStep = 0.01;  // seconds
inline constexpr double kGpuEnergyStep = 0.1;

/// Measures the energy of whole devices, whatever else runs on them. What cannot be measured is
/// said in a note, never thrown. A value may be off by what the device draws during one step of its
/// counter.
class EnergyMeter {
 public:
  /// Begins to measure.
  explicit EnergyMeter(const EnergySources& sources);

  /// Call this every now and then, as often as you like; see CpuEnergyCounter::sample().
  void sample();
  /// Returns the energy that was used since the meter was made.
  EnergyUse stop();

 private:
  std::function<double()> seconds_;
  std::unique_ptr<GpuEnergyCounter> gpu_;
  double started_;  // after NVML was loaded, which takes a while
  double sampled_;
  CpuEnergyCounter cpu_;
};

}  // namespace tessera
