// A Contribution is what triangles add to a matrix.
#pragma once

namespace tessera {

/// The stiffness matrix, after so many operations a triangle, or ones.
struct Contribution {
  enum class Kind { stiffness, ones } kind;
  int operations = 0;
};

}  // namespace tessera
