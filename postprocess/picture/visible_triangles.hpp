// VisibleTriangles says which triangle is seen at each sample of some rows of a picture.
#pragma once

#include <array>
#include <vector>

#include "postprocess/picture/camera.hpp"

namespace tessera {

/// A function that is linear in the picture: at_origin + x * dx + y * dy.
struct ScreenPlane {
  double at_origin = 0.0;
  double dx = 0.0;
  double dy = 0.0;

  double operator()(double x, double y) const { return at_origin + x * dx + y * dy; }
};

/// Makes linear functions from their values at the corners of a triangle.
class ScreenTriangle {
 public:
  explicit ScreenTriangle(const std::array<ScreenPoint, 3>& corners);

  /// Whether it covers anything.
  bool has_area() const { return has_area_; }
  const std::array<ScreenPoint, 3>& corners() const { return corners_; }
  /// The function that is 1 at this corner and 0 at the others.
  const ScreenPlane& weight(int corner) const { return weights_[corner]; }
  ScreenPlane plane(const std::array<double, 3>& values) const;
  /// Of 1 / depth.
  ScreenPlane inverse_depth() const;

 private:
  std::array<ScreenPoint, 3> corners_;
  std::array<ScreenPlane, 3> weights_;
  bool has_area_ = false;
};

/// A z-buffer with several samples a pixel for some rows of a picture: which triangle is seen at
/// each.
class VisibleTriangles {
 public:
  static constexpr int kSamples = 8;
  static constexpr int kNone = -1;
  using Samples = std::array<int, kSamples>;

  VisibleTriangles(int width, int rows);
  /// Starts anew, with nothing to be seen. @param first_row of the picture
  void clear(int first_row);
  /// @param triangle its number
  /// @param height what is at least 0 where the triangle is kept; nullptr: everywhere
  void draw(int triangle, const ScreenTriangle& shape, const ScreenPlane* height);

  /// The triangles at the samples of a pixel.
  const Samples& at(int x, int row) const {
    return triangles_[static_cast<std::size_t>(row) * width_ + x];
  }
  /// Where a sample is within its pixel, from its upper left corner.
  static std::array<double, 2> offset(int sample);

 private:
  int width_;
  int rows_;
  int first_row_ = 0;
  std::vector<Samples> triangles_;
  std::vector<std::array<float, kSamples>> inverse_depths_;
};

}  // namespace tessera
