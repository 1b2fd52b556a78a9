// This function reads a file that all ranks have to have alike.
#pragma once

#include <string>

#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// The text of a file. Each rank reads it, and all call this together.
/// @throws InputError if it cannot be read, or is not the same on all hosts
std::string shared_text(const std::string& path, const Communicator& ranks);

}  // namespace tessera
