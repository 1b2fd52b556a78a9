// This file makes the checks of ranks for those that compute on GPUs.
#include "tests/operators/ranks/rank_check_bodies.hpp"

namespace tessera::testing {

TESSERA_INSTANTIATE_RANK_CHECKS(Device)

}  // namespace tessera::testing
