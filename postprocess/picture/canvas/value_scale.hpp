// A ValueScale says which values a picture's colors and lines stand for.
#pragma once

#include <string>
#include <vector>

namespace tessera {

/// Which values the colors of a picture stand for: from low to high, with round numbers in between.
class ValueScale {
 public:
  /// @param low, high if not finite, or low > high, there is nothing to be colored
  /// @param max_ticks about how many round numbers
  ValueScale(double low, double high, int max_ticks);

  bool is_empty() const { return is_empty_; }
  /// Whether the values differ by no more than rounding.
  bool is_constant() const { return is_constant_; }
  double low() const { return low_; }
  double high() const { return high_; }
  /// 0 at low, 1 at high; 0.5 if the scale is constant. NaN for what is not finite.
  double fraction(double value) const;

  /// The round numbers from low to high, step() apart: numbers by which colors can be read.
  const std::vector<double>& ticks() const { return ticks_; }
  double step() const { return step_; }
  /// A tick's text. All of them are multiples of 10^exponent().
  std::string text(double tick) const;
  int exponent() const { return exponent_; }

 private:
  double low_;
  double high_;
  bool is_empty_;
  bool is_constant_ = false;
  double step_ = 0.0;
  int exponent_ = 0;
  int decimals_ = 0;
  std::vector<double> ticks_;
};

}  // namespace tessera
