// The row of the kernel csr in the table of strategies.
#pragma once

#include "operators/form/kernel_info.hpp"

namespace tessera {

KernelInfo csr_kernel();

}  // namespace tessera
