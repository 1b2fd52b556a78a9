// This function declares the keys of [time].
#pragma once

#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The keys of the table, for case files.
Keys<TimeParameters> time_keys();

}  // namespace tessera
