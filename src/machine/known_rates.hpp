// These functions measure the rates of a machine once and remember them.
#pragma once

#include <filesystem>
#include <vector>

#include "solvers/memory/device.hpp"
#include "solvers/ranks/communicator.hpp"
#include "src/machine/cpu_rates.hpp"
#include "src/parameters/case_parameters.hpp"
#include "src/parameters/command_line.hpp"

namespace tessera {

/// Where rates are remembered: tessera/bandwidths.json in $XDG_CACHE_HOME, or in $HOME/.cache
/// where that is not set (XDG Base Directory Specification); empty if neither is set.
std::filesystem::path rates_file();

/// How fast a processor, its caches and its memory are.
struct MeasuredRates {
  Bandwidth memory;  // of a GPU the copy alone
  FlopRates fma;
  std::vector<CacheRate> caches;

  /// What limits work in this precision.
  MachineRates in(Precision precision) const {
    const bool is_double = precision == Precision::double_precision;
    return {memory.copy, is_double ? fma.in_double : fma.in_single, caches};
  }
  /// Bytes per second of the largest cache; 0: not known.
  double last_cache() const { return caches.empty() ? 0.0 : caches.back().bytes_per_second; }
};

/// The rates of this machine and so many threads, at most as many as it has CPUs for. What was
/// measured before on such a machine is remembered, each kind of rate by itself, so that the file
/// of an older version serves as far as it goes; one that cannot be read or written is as good as
/// none.
/// @throws std::bad_alloc where they have to be measured
MeasuredRates known_rates(int threads, Measure when = Measure::once);

/// The same as measured by all ranks at one time, which each have so many threads and call this
/// together, remembered nowhere: the rates of all of them together, and what fits in their caches,
/// of a level never more than their hosts have.
/// @param hosts of the ranks
/// @throws std::bad_alloc on all ranks
MeasuredRates rates_of_ranks(const Communicator& ranks, int threads, int hosts);

/// The same of the GPU, remembered for its kind and driver; nothing is known without CUDA.
/// @throws DeviceError
MeasuredRates known_device_rates(const DeviceInfo& gpu, Measure when = Measure::once);

/// The same as measured by all ranks at one time, each on its GPU, which call this together,
/// remembered nowhere: the rates of all GPUs together.
/// @param sharing how many ranks have this rank's GPU
/// @throws DeviceError on all ranks
MeasuredRates device_rates_of_ranks(const Communicator& ranks, int sharing);

}  // namespace tessera
