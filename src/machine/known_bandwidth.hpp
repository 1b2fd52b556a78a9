// These functions measure the bandwidths of a machine once and remember them.
#pragma once

#include <filesystem>

#include "solvers/memory/device.hpp"
#include "src/machine/machine.hpp"
#include "src/parameters/command_line.hpp"

namespace tessera {

/// Where bandwidths are remembered: tessera/bandwidths.json in $XDG_CACHE_HOME, or in $HOME/.cache
/// where that is not set (XDG Base Directory Specification); empty if neither is set.
std::filesystem::path bandwidths_file();

/// measure_bandwidth() of this machine and so many threads. What was measured before on such a
/// machine is remembered; a file that cannot be read or written is as good as none.
/// @throws std::bad_alloc where it has to be measured
Bandwidth known_bandwidth(int threads, Measure when = Measure::once);

/// The same for measure_device_copy_bandwidth(), remembered for this GPU and driver.
/// @throws DeviceError
double known_device_copy_bandwidth(const DeviceInfo& gpu, Measure when = Measure::once);

}  // namespace tessera
