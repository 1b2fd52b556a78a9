// A Saturated is a size that stays at the largest integer instead of overflowing.
#pragma once

#include <concepts>
#include <limits>

#include "mesh/index.hpp"

namespace tessera {

/// A size that is not negative and stays at the largest Index instead of overflowing, so that the
/// memory of a mesh far beyond any machine still compares as too much:
///
///     return Saturated(cells) * points * entries * value_bytes;
///
/// Arithmetic with integers is saturated as soon as its left operand is a Saturated.
class Saturated {
 public:
  // Conversions are implicit both ways, because a Saturated stands for an Index in formulas and
  // functions return an Index. NOLINTBEGIN(google-explicit-constructor)
  constexpr Saturated(Index value) : value_(value) {}
  constexpr operator Index() const { return value_; }
  // NOLINTEND(google-explicit-constructor)

  template <std::integral I>
  friend constexpr Saturated operator*(Saturated a, I b) {
    Index result = 0;
    return __builtin_mul_overflow(a.value_, static_cast<Index>(b), &result) ? kLargest : result;
  }
  template <std::integral I>
  friend constexpr Saturated operator+(Saturated a, I b) {
    Index result = 0;
    return __builtin_add_overflow(a.value_, static_cast<Index>(b), &result) ? kLargest : result;
  }
  friend constexpr Saturated operator*(Saturated a, Saturated b) { return a * b.value_; }
  friend constexpr Saturated operator+(Saturated a, Saturated b) { return a + b.value_; }
  constexpr Saturated& operator+=(Index b) { return *this = *this + b; }
  constexpr Saturated& operator*=(Index b) { return *this = *this * b; }

 private:
  static constexpr Index kLargest = std::numeric_limits<Index>::max();

  Index value_;
};

}  // namespace tessera
