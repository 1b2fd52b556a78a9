// The row of the kernel kronecker in the table of strategies.
#pragma once

#include "operators/form/kernel_info.hpp"

namespace tessera {

KernelInfo kronecker_kernel();

}  // namespace tessera
