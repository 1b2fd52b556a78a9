// A scatter policy that exists in the tests only.
#pragma once

#include "operators/cells/scatter.hpp"

namespace tessera::testing {

/// One thread adds cell after cell, the last one first.
ScatterInfo backward_scatter();

}  // namespace tessera::testing
