// Fields whose programs are in a frame of their own.
#pragma once

#include <utility>
#include <vector>

#include "mesh/field/program_field.hpp"

namespace tessera::testing {

/// expression(X + 0.1, Y, Z) / 4.
/// @param depth the largest number of values on the stack
inline ScalarField framed_field(std::vector<Instruction> code, int depth) {
  return program_field(
      {.code = std::move(code), .depth = depth, .origin = {0.1, 0.0, 0.0}, .divisor = 4.0});
}

}  // namespace tessera::testing
