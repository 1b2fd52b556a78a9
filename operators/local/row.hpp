// The rows of the kernels of local matrices in the table of strategies.
#pragma once

#include "operators/form/kernel_info.hpp"

namespace tessera {

KernelInfo local_kernel();
KernelInfo local_thread_kernel();

}  // namespace tessera
