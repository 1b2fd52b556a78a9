// Marks stand at 1, 2 and 5 times powers of ten, at powers of ten, or at whole numbers.
#include "postprocess/report/plots/axis_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "postprocess/round_step.hpp"

namespace tessera::report {
namespace {

constexpr int kMaxMarks = 8;

std::string superscript(int number) {
  constexpr std::array<std::string_view, 10> kDigits = {"⁰", "¹", "²", "³", "⁴",
                                                        "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = number < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(number))) {
    text += kDigits[static_cast<std::size_t>(digit - '0')];
  }
  return text;
}

std::string power_text(int factor, int exponent) {
  if (exponent >= -3 && exponent <= 4) return fmt::format("{:g}", factor * std::pow(10, exponent));
  const std::string power = "10" + superscript(exponent);
  return factor == 1 ? power : fmt::format("{}·{}", factor, power);
}

AxisMarks logarithmic_marks(double low, double high) {
  // Marks of 1, 2, 5, 10, ... are counted: three a decade.
  constexpr std::array<int, 3> kFactors = {1, 2, 5};
  const auto value = [&](int n) {
    const int decade = static_cast<int>(std::floor(n / 3.0));
    return kFactors[static_cast<std::size_t>(n - 3 * decade)] * std::pow(10.0, decade);
  };
  // Points keep off the ends of the axis.
  constexpr double kMargin = 1.08;
  // The next marks are numbers.
  constexpr double kLargest = 1e307;
  AxisMarks axis{low / kMargin, std::min(high * kMargin, kLargest), {}};
  int first = 3 * static_cast<int>(std::floor(std::log10(axis.low)));
  while (value(first) < axis.low) ++first;
  int last = first;
  while (value(last + 1) <= axis.high) ++last;
  if (value(last) > axis.high) --last;
  while (last <= first) {
    // Towards the nearer mark.
    if (axis.low / value(first - 1) < value(last + 1) / axis.high) {
      axis.low = value(--first);
    } else {
      axis.high = value(++last);
    }
  }
  // Whole decades where there are several.
  const int decades = (last - first) / 3;
  const int step = last - first < kMaxMarks ? 1 : 3 * (1 + decades / kMaxMarks);
  for (int n = first; n <= last; ++n) {
    const int decade = static_cast<int>(std::floor(n / 3.0));
    if (((n % step) + step) % step != 0) continue;
    axis.marks.push_back(
        {value(n), power_text(kFactors[static_cast<std::size_t>(n - 3 * decade)], decade)});
  }
  return axis;
}

AxisMarks linear_marks(double low, double high) {
  if (low > 0.0 && low < 0.6 * high) low = 0.0;
  if (!(high > low)) high = low + std::max(1.0, std::abs(low));
  const double step = round_step((high - low) / 5.0);
  AxisMarks axis{std::floor(low / step + 1e-9) * step, std::ceil(high / step - 1e-9) * step, {}};
  const auto steps = std::lround((axis.high - axis.low) / step);
  for (long n = 0; n <= steps; ++n) {
    const double value = axis.low + static_cast<double>(n) * step;
    axis.marks.push_back({value, fmt::format("{:g}", std::abs(value) < 1e-9 * step ? 0.0 : value)});
  }
  return axis;
}

AxisMarks count_marks(double low, double high) {
  // Points keep off the ends of the axis.
  constexpr double kMargin = 0.3;
  AxisMarks axis{low - kMargin, high + kMargin, {}};
  const double step = std::max(1.0, round_step((high - low) / kMaxMarks));
  const auto last = static_cast<long>(std::floor(high / step));
  for (auto n = static_cast<long>(std::ceil(low / step)); n <= last; ++n) {
    const double value = static_cast<double>(n) * step;
    axis.marks.push_back({value, fmt::format("{:g}", value)});
  }
  return axis;
}

}  // namespace

AxisMarks axis_marks(Scale scale, std::pair<double, double> range) {
  switch (scale) {
    case Scale::logarithmic:
      return logarithmic_marks(range.first, range.second);
    case Scale::counts:
      return count_marks(range.first, range.second);
    case Scale::linear:
      break;
  }
  return linear_marks(range.first, range.second);
}

}  // namespace tessera::report
