// These functions say whether a kernel suits a case, and choose one.
#pragma once

#include <string>

#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// Why the kernel does not suit the case, in a user's words: "the mesh is mapped". The text is
/// empty if the kernel suits the case, as kAutoKernel always does. The coefficient must be an
/// expression.
std::string why_unsuitable(const std::string& kernel, const CaseParameters& parameters);

/// Replaces kAutoKernel by kronecker, without a scatter, where that suits the case, and by tensor
/// with the case's scatter elsewhere. Returns why, "auto: the mesh is mapped"; empty if the case
/// names another kernel.
std::string choose_kernel(CaseParameters& parameters);

}  // namespace tessera
