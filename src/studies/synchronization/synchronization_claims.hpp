// What the documents say about protected additions.
#pragma once

#include <string>
#include <vector>

#include "src/studies/claims.hpp"

namespace tessera {

/// S1 to S9, on rows with the parameters below.
std::vector<Claim> synchronization_claims();

/// The parameters of rows: part, k values, probability q, m threads that share an entry, table.
/// Each part has its own; the others are empty.
std::vector<std::string> overhead_parameters(int k);
std::vector<std::string> capacity_parameters(int k);
std::vector<std::string> contention_parameters(const std::string& q);
std::vector<std::string> gpu_parameters(const std::string& part, const std::string& sharing,
                                        const std::string& table);

/// The parameter q of a row, the probability of the shared item.
std::string share_text(double q);

}  // namespace tessera
