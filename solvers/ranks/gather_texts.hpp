// This function lets ranks see each other's texts.
#pragma once

#include <string>
#include <vector>

#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// The text of every rank, in the order of ranks, each of any length. All ranks call it together.
std::vector<std::string> gather_texts(const Communicator& ranks, const std::string& text);

}  // namespace tessera
