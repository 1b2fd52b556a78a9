// The colors of plots, which people with any kind of color vision can tell apart.
#pragma once

#include <array>
#include <string_view>

namespace tessera::report {

/// Okabe and Ito's colors on a light page, without yellow, which is too pale for lines; on a dark
/// one their lighter relatives. The page's style has them as --c0, --c1, ...
struct Color {
  std::string_view light;
  std::string_view dark;
};
inline constexpr std::array<Color, 7> kPalette = {{{"#0072b2", "#4aa8e8"},
                                                   {"#d55e00", "#f0803c"},
                                                   {"#009e73", "#2cc79a"},
                                                   {"#cc79a7", "#e59cc4"},
                                                   {"#e69f00", "#f2b632"},
                                                   {"#56b4e9", "#a5dcff"},
                                                   {"#6b6b6b", "#b4b4b4"}}};
inline constexpr Color kGrid = {"#d8d8d8", "#3c4046"};

}  // namespace tessera::report
