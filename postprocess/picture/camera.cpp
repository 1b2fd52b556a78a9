// This file projects points, and finds the scale at which a box fills a rectangle.
#include "postprocess/picture/camera.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera {
namespace {

// ParaView's angle of view is 30 degrees, and the box's sphere just fits in.
const double kSineOfHalfAngle = std::sin(std::acos(-1.0) / 12.0);
// Of view_script.cpp.
constexpr Point kDirection = {-0.5, -1.0, 0.6};
// How thin a box may look.
constexpr double kMaxAspect2D = 6.0;
constexpr double kMaxAspect3D = 25.0;

double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

Point normalized(const Point& a) {
  const double length = std::sqrt(dot(a, a));
  return {a[0] / length, a[1] / length, a[2] / length};
}

}  // namespace

Camera::Camera(int dimension, const Point& lower, const Point& upper, const Rectangle& target) {
  double longest = 0.0;
  for (int d = 0; d < dimension; ++d) longest = std::max(longest, upper[d] - lower[d]);
  const double max_aspect = dimension == 2 ? kMaxAspect2D : kMaxAspect3D;
  Point extent{};
  for (int d = 0; d < dimension; ++d) {
    center_[d] = 0.5 * (lower[d] + upper[d]);
    const double length = upper[d] - lower[d];
    if (length > 0.0) stretch_[d] = std::max(1.0, longest / (max_aspect * length));
    extent[d] = stretch_[d] * length;
  }
  if (dimension == 3) {
    backwards_ = normalized(kDirection);
    right_ = normalized(cross({0.0, 0.0, 1.0}, backwards_));
    up_ = cross(backwards_, right_);
    distance_ = 0.5 * std::sqrt(dot(extent, extent)) / kSineOfHalfAngle;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double left = kInfinity;
  double right = -kInfinity;
  double top = kInfinity;
  double bottom = -kInfinity;
  for (int corner = 0; corner < 8; ++corner) {
    Point x;
    for (int d = 0; d < 3; ++d) x[d] = (corner >> d & 1) != 0 ? upper[d] : lower[d];
    const ScreenPoint at = project_unscaled(x);
    left = std::min(left, at.x);
    right = std::max(right, at.x);
    top = std::min(top, at.y);
    bottom = std::max(bottom, at.y);
  }
  scale_ = std::min((target.right - target.left) / (right - left),
                    (target.bottom - target.top) / (bottom - top));
  left_ = 0.5 * (target.left + target.right) - 0.5 * scale_ * (left + right);
  top_ = 0.5 * (target.top + target.bottom) - 0.5 * scale_ * (top + bottom);
}

ScreenPoint Camera::project_unscaled(const Point& x) const {
  Point from_center;
  for (int d = 0; d < 3; ++d) from_center[d] = stretch_[d] * (x[d] - center_[d]);
  const double depth = distance_ > 0.0 ? distance_ - dot(from_center, backwards_) : 1.0;
  return {dot(from_center, right_) / depth, -dot(from_center, up_) / depth, 1.0 / depth};
}

ScreenPoint Camera::project(const Point& x) const {
  ScreenPoint at = project_unscaled(x);
  at.x = left_ + scale_ * at.x;
  at.y = top_ + scale_ * at.y;
  return at;
}

}  // namespace tessera
