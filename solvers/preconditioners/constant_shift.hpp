// A ConstantShift makes the inverse of a matrix that may be singular a pseudo-inverse.
#pragma once

#include <cstdint>
#include <limits>

#include "solvers/preconditioners/dense_inverse.hpp"

namespace tessera {

/// What is added to all entries of a matrix before it is inverted, and to those of the inverse
/// afterwards: c and -1 / (c n^2) where constants are its null space, else zeros.
struct ConstantShift {
  double of_matrix;
  double of_inverse;
};

/// @param sum of all entries: with rounding errors instead of one, constants are the null space
inline ConstantShift constant_shift(double trace, double sum, std::int64_t n,
                                    NullSpace null_space) {
  const auto size = static_cast<double>(n);
  constexpr double kRounding = std::numeric_limits<double>::epsilon();
  if (!(sum / size > kRounding * trace)) null_space = NullSpace::constants;
  if (null_space == NullSpace::none) return {0.0, 0.0};
  // Any positive number will do; this one keeps the condition number.
  const double shift = trace / (size * size);
  return {shift, -1.0 / (shift * size * size)};
}

}  // namespace tessera
