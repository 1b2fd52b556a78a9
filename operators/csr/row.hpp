// The rows of the assembled matrix in the table of strategies.
#pragma once

#include "operators/form/kernel_info.hpp"

namespace tessera {

KernelInfo csr_kernel();
KernelInfo rounded_csr_kernel();
KernelInfo cusparse_kernel();

}  // namespace tessera
