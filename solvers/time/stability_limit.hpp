// This function tells how long explicit steps may be.
#pragma once

#include <stdexcept>
#include <string>

namespace tessera {

/// The largest dt * lambda at which explicit-rk with fixed steps damps w' = -lambda w, lambda > 0:
/// where |1 - z + z^2 / 2 - ... +- z^order / order!| <= 1 ends (Hairer and Wanner, Solving Ordinary
/// Differential Equations II, IV.2).
/// @throws std::invalid_argument if explicit-rk has no such order
inline double stability_limit(int order) {
  switch (order) {
    case 2:
      return 2.0;
    case 3:
      return 2.5127453266183;
    case 4:
      return 2.7852935634053;
    default:
      throw std::invalid_argument("explicit-rk has order 2, 3 or 4, not " + std::to_string(order));
  }
}

}  // namespace tessera
