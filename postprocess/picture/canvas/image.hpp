// An Image is the pixels of a picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// Red, green and blue, each in [0, 1].
struct Color {
  float red;
  float green;
  float blue;
};

/// first + weight (second - first).
Color mixed(const Color& first, const Color& second, float weight);

/// The pixels of a picture, white at first; 8 bits a color, row by row from the top.
class Image {
 public:
  Image(int width, int height);

  int width() const { return width_; }
  int height() const { return height_; }
  Color at(int x, int y) const;
  /// Does nothing outside the picture.
  void blend(int x, int y, const Color& color, float opacity);
  /// A straight line of so many pixels' width, between pixel coordinates; nothing if these are not
  /// finite.
  void line(double x0, double y0, double x1, double y1, double width, const Color& color);
  /// The content of a PNG file. @throws std::runtime_error
  std::string to_png() const;

 private:
  int width_;
  int height_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace tessera
