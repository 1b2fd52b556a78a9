// A CpuEnergyCounter reads the energy counters of the CPUs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera {

/// Joules of all CPU packages and, where the machine tells them apart, of its memory, by the RAPL
/// counters that Linux shows (of Intel and of AMD) below /sys/class/powercap. They count whatever
/// runs on the machine, in steps of about 1 ms.
class CpuEnergyCounter {
 public:
  /// Reads the counters for the first time.
  /// @param powercap stands for /sys/class/powercap
  CpuEnergyCounter(const std::filesystem::path& powercap, double seconds);

  /// Reads the counters again. They wrap after some minutes, so a sample is due about every 10 s;
  /// if one comes so late that wraps may have been missed, nothing is measured.
  /// @param seconds the time now
  void sample(double seconds);

  /// Why nothing is measured; empty if something is.
  const std::string& failure() const { return failure_; }
  /// From the first sample to the last one.
  double joules() const { return joules_; }
  bool counts_memory() const { return counts_memory_; }

 private:
  struct Counter {
    std::filesystem::path file;
    std::uint64_t range;  // in uJ, as the rest
    std::uint64_t last;
  };
  void find_counters(const std::filesystem::path& powercap);

  std::vector<Counter> counters_;
  bool counts_memory_ = false;
  double last_seconds_;
  double joules_ = 0.0;
  std::string failure_;
};

}  // namespace tessera
