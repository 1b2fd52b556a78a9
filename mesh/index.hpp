// These are the integer and point types that all folders share.
#pragma once

#include <array>
#include <cstdint>

namespace tessera {

/// Index of a cell, node or nonzero: 64 bits, so that 3 billion DoFs and their products fit.
using Index = std::int64_t;

/// A position in box or physical coordinates; z = 0 in 2D.
using Point = std::array<double, 3>;

/// An index or a count per axis, x first; axis 2 holds 0 (index) or 1 (count) in 2D.
using IndexTriple = std::array<Index, 3>;

/// The smallest integer >= a / b, for a >= 0 and b > 0.
constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

/// The same along each axis.
constexpr IndexTriple ceil_div(const IndexTriple& a, const IndexTriple& b) {
  return {ceil_div(a[0], b[0]), ceil_div(a[1], b[1]), ceil_div(a[2], b[2])};
}

/// base^exponent for small non-negative exponents.
constexpr Index power(Index base, int exponent) {
  Index result = 1;
  for (int e = 0; e < exponent; ++e) result *= base;
  return result;
}

}  // namespace tessera
