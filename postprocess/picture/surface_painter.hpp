// A SurfacePainter colors a surface by a solution, evaluated at each pixel.
#pragma once

#include <vector>

#include "mesh/discretization.hpp"
#include "postprocess/picture/camera.hpp"
#include "postprocess/picture/image.hpp"
#include "postprocess/picture/interpolant.hpp"
#include "postprocess/picture/surface.hpp"
#include "postprocess/picture/value_scale.hpp"
#include "postprocess/picture/visible_triangles.hpp"

namespace tessera {

/// Paints a surface in the colors of a Q_p function, which is evaluated at each pixel that shows
/// something, with the edges of cells where these are some pixels wide, and with the edges of the
/// surface's smooth parts.
class SurfacePainter {
 public:
  /// All but the camera are referred to. @param values of the function's nodes
  SurfacePainter(const Discretization& discretization, const LineBasis& basis, const double* values,
                 const Surface& surface, const Camera& camera, const ValueScale& scale);

  /// Paints the surface, by all threads.
  void paint(Image& image);
  /// Paints lines along which the function has the values of the scale's ticks, in 2D; after
  /// paint().
  void paint_iso_lines(Image& image) const;

 private:
  class Shader;
  /// What is seen at a pixel.
  struct Seen {
    Color color = {0.0F, 0.0F, 0.0F};
    double fraction = 0.0;  // scale_.fraction()
    float coverage = 0.0F;  // the part of the pixel that shows something
  };

  /// The rows of pixels from first_row on.
  void paint_band(int first_row, const std::vector<int>& triangles, VisibleTriangles& visible,
                  Shader& shader, Image& image);
  /// @param samples those of pixel (x, y)
  Seen look(int x, int y, const VisibleTriangles::Samples& samples, Shader& shader) const;
  ScreenTriangle screen_triangle(int triangle) const;
  bool has_iso_lines() const {
    return discretization_.mesh.dimension() == 2 && !scale_.ticks().empty();
  }

  const Discretization& discretization_;
  const LineBasis& basis_;
  const double* values_;
  const Surface& surface_;
  const ValueScale& scale_;
  std::vector<ScreenPoint> points_;  // of the vertices
  std::vector<double> light_;        // of the vertices
  int width_ = 0;
  /// For iso-lines: scale_.fraction() at each pixel; NaN where nothing is seen.
  std::vector<float> fractions_;
};

}  // namespace tessera
