// The row of the kernel tensor in the table of strategies.
#pragma once

#include "operators/form/kernel_info.hpp"

namespace tessera {

KernelInfo tensor_kernel();

}  // namespace tessera
