// This file has Viridis as polynomials of degree 6, off by 0.01 at most.
#include "postprocess/picture/canvas/viridis.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera {
namespace {

constexpr int kTerms = 7;
// The fit by M. Zucker to the table of S. van der Walt and N. Smith, both free of any rights (CC0).
constexpr double kCoefficients[kTerms][3] = {
    {0.2777273272234177, 0.005407344544966578, 0.3340998053353061},
    {0.1050930431085774, 1.404613529898575, 1.384590162594685},
    {-0.3308618287255563, 0.214847559468213, 0.09509516302823659},
    {-4.634230498983486, -5.799100973351585, -19.33244095627987},
    {6.228269936347081, 14.17993336680509, 56.69055260068105},
    {4.776384997670288, -13.74514537774601, -65.35303263337234},
    {-5.435455855934631, 4.645852612178535, 26.3124352495832}};

Color polynomials(double t) {
  std::array<double, 3> color{};
  for (int term = kTerms - 1; term >= 0; --term) {
    for (int i = 0; i < 3; ++i) color[i] = color[i] * t + kCoefficients[term][i];
  }
  for (double& part : color) part = std::clamp(part, 0.0, 1.0);
  return {static_cast<float>(color[0]), static_cast<float>(color[1]), static_cast<float>(color[2])};
}

}  // namespace

Color viridis(double t) {
  if (std::isnan(t)) return {0.6F, 0.6F, 0.6F};
  constexpr int kEntries = 1024;
  static const std::array<Color, kEntries> table = [] {
    std::array<Color, kEntries> colors;
    for (int i = 0; i < kEntries; ++i) colors[i] = polynomials(i / (kEntries - 1.0));
    return colors;
  }();
  return table[static_cast<std::size_t>(std::clamp(t, 0.0, 1.0) * (kEntries - 1))];
}

}  // namespace tessera
