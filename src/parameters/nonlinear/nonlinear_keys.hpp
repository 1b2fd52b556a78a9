// This function declares the keys of [nonlinear].
#pragma once

#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The keys of the table, for case files.
Keys<NonlinearParameters> nonlinear_keys();

}  // namespace tessera
