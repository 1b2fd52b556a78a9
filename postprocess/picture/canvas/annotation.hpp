// What stands beside a surface in a picture: axes, outline, color bar, title and captions.
#pragma once

#include <string>
#include <vector>

#include "postprocess/picture/camera.hpp"
#include "postprocess/picture/canvas/font.hpp"
#include "postprocess/picture/canvas/image.hpp"
#include "postprocess/picture/canvas/value_scale.hpp"

namespace tessera {

/// What stands above and below.
struct Captions {
  std::string title;
  /// In red below the title; one line each.
  std::vector<std::string> warnings;
  /// At the bottom; one line each.
  std::vector<std::string> lines;
};

/// Where the surface goes in a picture, which leaves room for all else.
Rectangle plot_area(const Image& image, int dimension);

/// The edges of the bounds in 3D that are behind all that is within.
void draw_back_edges(const Camera& camera, const Point& lower, const Point& upper, Image& image);
/// The other edges in 3D, or the frame in 2D, and the coordinates along them.
void draw_axes(const Font& font, const Camera& camera, int dimension, const Point& lower,
               const Point& upper, Image& image);
/// What is to be said of the axes in 3D that are stretched, or whose ends are too close in the
/// picture for their coordinates; empty if there are none.
std::string axes_text(const Camera& camera, const Point& lower, const Point& upper);
void draw_color_bar(const Font& font, const ValueScale& scale, Image& image);
void draw_captions(const Font& font, const Captions& captions, Image& image);

}  // namespace tessera
