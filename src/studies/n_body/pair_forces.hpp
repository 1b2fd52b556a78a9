// These functions are what acts between two particles, on the host and on the GPU.
#pragma once

#include <cmath>

namespace tessera {

inline constexpr double kSoftening = 0.05;

/// m_i m_j / (d^2 + kSoftening^2)^(3/2): softened gravity pulls i towards j with this times
/// x_j - x_i. @param square d^2
template <class Number>
constexpr Number attraction(Number mass_i, Number mass_j, Number square) {
  using std::sqrt;
  const Number softened = square + Number(kSoftening * kSoftening);
  return mass_i * mass_j / (softened * sqrt(softened));
}

/// +1 on the first of a pair, -1 on the second.
template <class Number>
constexpr double counted(Number i, Number j) {
  return static_cast<double>(j > i) - static_cast<double>(j < i);
}

}  // namespace tessera
