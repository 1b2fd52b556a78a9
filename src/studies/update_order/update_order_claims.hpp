// What document 000 and our own manual say about the order of updates.
#pragma once

#include <vector>

#include "src/studies/claims.hpp"

namespace tessera {

/// U1 to U9, on rows as update_order_table.hpp has them.
[[nodiscard]] std::vector<Claim> update_order_claims();

}  // namespace tessera
