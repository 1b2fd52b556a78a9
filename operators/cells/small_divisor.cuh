// A SmallDivisor divides small numbers by a multiplication.
#pragma once

namespace tessera {

/// A divisor of numbers t, 0 <= t < 2^20, as those of nodes and points in a cell: integer divisions
/// take some twenty instructions, this takes three. It is exact: (t + 1/2) / d is 1 / (2 d) or more
/// away from a whole number, and its error below 2^-22 t / d.
class SmallDivisor {
 public:
  __device__ explicit SmallDivisor(int d) : inverse_(1.0F / static_cast<float>(d)) {}

  /// Whole part of t / d.
  __device__ int quotient(int t) const {
    return static_cast<int>((static_cast<float>(t) + 0.5F) * inverse_);
  }

 private:
  float inverse_;
};

}  // namespace tessera
