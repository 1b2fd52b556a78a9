// What document 004 says about collecting what threads append or send.
#pragma once

#include <vector>

#include "src/studies/claims.hpp"

namespace tessera {

/// G1 to G9, on rows with the parameters of aggregation_row.hpp.
std::vector<Claim> aggregation_claims();

}  // namespace tessera
