// A SurfacePainter finds what a picture shows of a solution, evaluated at each pixel.
#pragma once

#include <vector>

#include "mesh/discretization.hpp"
#include "postprocess/picture/camera.hpp"
#include "postprocess/picture/canvas/value_scale.hpp"
#include "postprocess/picture/interpolant.hpp"
#include "postprocess/picture/surface.hpp"
#include "postprocess/picture/surface_pixels.hpp"
#include "postprocess/picture/visible_triangles.hpp"

namespace tessera {

/// Finds what the pixels of a picture show of a surface and of a Q_p function on it, which is
/// evaluated at each of them: its values, the light, the edges of cells where these are some pixels
/// wide, and those of the surface's smooth parts.
class SurfacePainter {
 public:
  /// All but the camera are referred to.
  SurfacePainter(const Discretization& discretization, const LineBasis& basis,
                 const Surface& surface, const Camera& camera);

  /// By all threads. @param values of the function's nodes @param scale their colors
  SurfacePixels sample(const double* values, const ValueScale& scale, int width, int height) const;

 private:
  class Shader;
  /// What is seen at a pixel, as in SurfacePixels.
  struct Seen {
    double fraction = 0.0;
    double light = 0.0;
    double cell_edge = 0.0;
    double part_edge = 0.0;
    double coverage = 0.0;
  };

  /// The rows of pixels from first_row on.
  void sample_band(int first_row, const std::vector<int>& triangles, VisibleTriangles& visible,
                   Shader& shader, SurfacePixels& pixels) const;
  /// @param samples those of pixel (x, y)
  Seen look(int x, int y, const VisibleTriangles::Samples& samples, Shader& shader) const;
  ScreenTriangle screen_triangle(int triangle) const;

  const Discretization& discretization_;
  const LineBasis& basis_;
  const Surface& surface_;
  std::vector<ScreenPoint> points_;  // of the vertices
  std::vector<double> light_;        // of the vertices
};

}  // namespace tessera
