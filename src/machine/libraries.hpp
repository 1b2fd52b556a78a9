// The libraries that this program runs with tell their versions.
#pragma once

#include <string>

namespace tessera {

/// Such as "SUNDIALS 6.4.1, HDF5 1.10.8, LZ4 1.9.4": what makes time steps, checkpoints and
/// compressed files.
std::string library_versions();

}  // namespace tessera
