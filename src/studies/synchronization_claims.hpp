// What the documents say about protected additions.
#pragma once

#include <string>
#include <vector>

#include "src/studies/claims.hpp"

namespace tessera {

/// S1 to S9, on rows with the parameters part, k, q.
std::vector<Claim> synchronization_claims();

/// The parameter q of a row, the probability of the shared item.
std::string share_text(double q);

}  // namespace tessera
