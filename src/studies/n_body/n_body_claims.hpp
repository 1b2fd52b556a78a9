// What a document says about particles that all act on each other.
#pragma once

#include <vector>

#include "src/studies/claims.hpp"

namespace tessera {

/// N1 to N6, on rows with the parameter particles, 1024.
std::vector<Claim> n_body_claims();

}  // namespace tessera
