// SurfacePixels are what a picture shows of a solution, before it has colors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "postprocess/picture/canvas/image.hpp"
#include "postprocess/picture/canvas/value_scale.hpp"

namespace tessera {

/// How a pixel shows a surface, whatever its color. Of each 255 is all.
struct PixelShade {
  std::uint8_t coverage = 0;
  std::uint8_t light = 0;
  std::uint8_t cell_edge = 0;
  std::uint8_t part_edge = 0;
};

/// Opacity, at so many pixels from its middle, of a line.
inline double line_opacity(double distance, double width) {
  return std::clamp(0.5 * width + 0.5 - distance, 0.0, 1.0);
}

/// 1 for lines that are far from each other, 0 for those that would be a grey mass.
inline double clearness(double spacing, double least, double enough) {
  return std::clamp((spacing - least) / (enough - least), 0.0, 1.0);
}

/// Of numbers whose squares are in range; hypot() is slow.
inline double length(double x, double y) { return std::sqrt(x * x + y * y); }

/// What each pixel shows: a shade, which is the same for all values, and the fraction of a scale
/// that the value there is, NaN for what is not finite.
class SurfacePixels {
 public:
  /// Nothing is seen at first.
  SurfacePixels(int width, int height);

  int width() const { return width_; }
  int height() const { return height_; }
  void set(int x, int y, const PixelShade& shade, float fraction) {
    shades_[at(x, y)] = shade;
    fractions_[at(x, y)] = fraction;
  }

  /// Those of the pixels that show something, row by row: all that differs from time to time.
  std::vector<float> seen_fractions() const;
  /// @param seen as many as seen_fractions() has
  void set_seen_fractions(std::span<const float> seen);

  /// Both onto a picture of this size, by all threads.
  void paint(Image& image) const;
  /// Lines along which the function has the values of the scale's ticks.
  void paint_iso_lines(const ValueScale& scale, Image& image) const;

 private:
  std::size_t at(int x, int y) const { return static_cast<std::size_t>(y) * width_ + x; }

  int width_;
  int height_;
  std::vector<PixelShade> shades_;
  std::vector<float> fractions_;
};

}  // namespace tessera
