// This file finds round numbers between two others.
#include "postprocess/picture/canvas/value_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "postprocess/round_step.hpp"

namespace tessera {

ValueScale::ValueScale(double low, double high, int max_ticks)
    : low_(low), high_(high), is_empty_(!std::isfinite(low) || !std::isfinite(high) || low > high) {
  const double largest = std::max(std::abs(low), std::abs(high));
  // Numbers too small for a step between them are as good as equal.
  is_constant_ = !is_empty_ && !(high - low > std::max(1e-10 * largest, 1e-290));
  if (is_empty_ || is_constant_ || !std::isfinite(high - low)) return;
  step_ = round_step((high - low) / max_ticks);
  const int magnitude = static_cast<int>(std::floor(std::log10(largest)));
  const int step_magnitude = static_cast<int>(std::floor(std::log10(step_) + 1e-9));
  // Numbers that differ in their last digits are easier to read as a whole.
  const bool is_narrow = magnitude >= 0 && magnitude <= 8 && magnitude - step_magnitude > 3;
  if ((magnitude >= 5 && !is_narrow) || magnitude <= -4) exponent_ = magnitude;
  decimals_ = std::clamp(exponent_ - step_magnitude, 0, 12);
  const double slack = 1e-9 * (high - low);
  for (double i = std::ceil((low - slack) / step_); i * step_ <= high + slack; i += 1.0) {
    ticks_.push_back(i * step_);
  }
}

double ValueScale::fraction(double value) const {
  if (is_empty_ || !std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
  if (is_constant_) return 0.5;
  // Halves, so that the largest numbers have a difference.
  return std::clamp((0.5 * value - 0.5 * low_) / (0.5 * high_ - 0.5 * low_), 0.0, 1.0);
}

std::string ValueScale::text(double tick) const {
  const double scaled = tick / std::pow(10.0, exponent_);
  const double rounded = std::abs(scaled) < 0.5 * std::pow(10.0, -decimals_) ? 0.0 : scaled;
  return fmt::format("{:.{}f}", rounded, decimals_);
}

}  // namespace tessera
