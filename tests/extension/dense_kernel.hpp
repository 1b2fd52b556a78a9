// A strategy that exists in the tests only: what a new kernel needs to be known everywhere.
#pragma once

#include "operators/form/kernel_info.hpp"

namespace tessera::testing {

/// y = A x by all n^2 entries of the matrix, for at most 2000 nodes, on the host.
KernelInfo dense_kernel();

}  // namespace tessera::testing
