# The one header that says what this build has.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/solvers/configuration.hpp @ONLY CONTENT
[[#pragma once

namespace tessera {

/// Whether this build has the GPU code. Where it has not, device functions are declared but not
/// defined: uses stand behind `if constexpr (kHasCuda)`.
inline constexpr bool kHasCuda = @tessera_has_cuda@;

}  // namespace tessera
]])
