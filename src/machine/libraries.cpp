// This file asks libraries for their versions.
#include "src/machine/libraries.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <lz4.h>
#include <sundials/sundials_version.h>

#include <array>

namespace tessera {

std::string library_versions() {
  std::array<char, 32> sundials{};
  SUNDIALSGetVersion(sundials.data(), static_cast<int>(sundials.size()));
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("SUNDIALS {}, HDF5 {}.{}.{}, LZ4 {}", sundials.data(), major, minor, release,
                     LZ4_versionString());
}

}  // namespace tessera
