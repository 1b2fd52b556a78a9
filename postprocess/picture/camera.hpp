// A Camera says where points of physical space are in a picture.
#pragma once

#include "mesh/index.hpp"

namespace tessera {

/// A place in a picture in pixels, y downwards; depth is the distance from the camera, of which 1 /
/// depth and, divided by it, all that is linear on a triangle are linear in the picture.
struct ScreenPoint {
  double x;
  double y;
  double inverse_depth;
};

struct Rectangle {
  double left;
  double top;
  double right;
  double bottom;
};

/// Looks at a box, which fills a rectangle of the picture: in 3D with perspective from the
/// direction of view.py's camera, z upwards; in 2D from above without.
class Camera {
 public:
  /// @param lower, upper the box; its extents are positive where it has any
  Camera(int dimension, const Point& lower, const Point& upper, const Rectangle& target);

  ScreenPoint project(const Point& x) const;
  /// The unit vector towards the camera.
  const Point& direction() const { return backwards_; }
  /// By how much an axis is stretched, so that a thin box is seen; 1 for most.
  const Point& stretch() const { return stretch_; }

 private:
  ScreenPoint project_unscaled(const Point& x) const;

  Point center_{};
  Point stretch_{1.0, 1.0, 1.0};
  Point right_{1.0, 0.0, 0.0};
  Point up_{0.0, 1.0, 0.0};
  Point backwards_{0.0, 0.0, 1.0};
  double distance_ = 0.0;  // 0: no perspective
  double scale_ = 1.0;
  double left_ = 0.0;
  double top_ = 0.0;
};

}  // namespace tessera
