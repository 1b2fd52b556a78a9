// This file words the refusal of compressed factors that turn out to need more room.
#include <array>
#include <cstdio>
#include <string>

#include "operators/tensor/compressed/factors.hpp"

namespace tessera {

std::string no_room_unpacked(double error_bound, double tolerance, Index bytes,
                             const char* reason) {
  std::array<char, 64> errors{};
  std::snprintf(errors.data(), errors.size(), "by up to %.1e, where %.0e is allowed", error_bound,
                tolerance);
  return std::string("compressed: within a cell of this map factors vary too much to be packed (") +
         "they would err " + errors.data() + "), and unpacked they need " +
         std::to_string(bytes >> 20) + " MiB: " + reason + "; use \"on-the-fly\", or fewer cells";
}

}  // namespace tessera
