// The row of the kernel stencil in the table of strategies.
#pragma once

#include "operators/form/kernel_info.hpp"

namespace tessera {

KernelInfo stencil_kernel();

}  // namespace tessera
