// A preconditioner that exists in the tests only.
#pragma once

#include "src/solve/preconditioner_table.hpp"

namespace tessera::testing {

/// z = D^-1 r / 2 on the host.
PreconditionerInfo half_jacobi();

}  // namespace tessera::testing
