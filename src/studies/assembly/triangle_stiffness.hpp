// This function is the local matrix of a triangle, on the host and on the GPU.
#pragma once

#include <array>

namespace tessera {

/// Entry 3 i + j of the stiffness matrix of linear elements on a triangle with these corners,
/// integral grad(phi_i) . grad(phi_j), times `one`.
template <class Number>
constexpr std::array<Number, 9> triangle_stiffness(
    const std::array<std::array<Number, 2>, 3>& corners, Number one) {
  std::array<std::array<Number, 2>, 3> side{};  // opposite of each corner
  for (int i = 0; i < 3; ++i) {
    const std::array<Number, 2>& from = corners[(i + 1) % 3];
    const std::array<Number, 2>& to = corners[(i + 2) % 3];
    side[i] = {to[0] - from[0], to[1] - from[1]};
  }
  const Number twice_area = side[0][0] * side[1][1] - side[0][1] * side[1][0];
  const Number factor = one / (Number(2.0) * twice_area);
  std::array<Number, 9> matrix{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      matrix[3 * i + j] = factor * (side[i][0] * side[j][0] + side[i][1] * side[j][1]);
    }
  }
  return matrix;
}

}  // namespace tessera
