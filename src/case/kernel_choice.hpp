// These functions say whether a kernel suits a case, and choose one.
#pragma once

#include <string>

#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// What in the case the kernel is not for, in a user's words: "the mesh is mapped"; empty if it is
/// for the case, as kAutoKernel always is. The coefficient must be an expression.
std::string why_unsuitable(const std::string& kernel, const CaseParameters& parameters);

/// Replaces kAutoKernel by kronecker, without a scatter, where that suits the case, and by tensor
/// with the case's scatter elsewhere. Returns why, "auto: the mesh is mapped"; empty if the case
/// names another kernel.
std::string choose_kernel(CaseParameters& parameters);

}  // namespace tessera
