// This file draws triangles into a z-buffer.
#include "postprocess/picture/visible_triangles.hpp"

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

// In sixteenths of a pixel: each row and each column has one, so that lines of every direction are
// smooth.
constexpr int kOffsets[VisibleTriangles::kSamples][2] = {{9, 5},  {7, 11}, {13, 9},  {5, 3},
                                                         {3, 13}, {1, 7},  {11, 15}, {15, 1}};

constexpr double offset_of(int sample, int axis) { return kOffsets[sample][axis] / 16.0; }

// How far a sample may be outside of a triangle, as part of its height, without being lost to
// rounding between two that have an edge in common.
constexpr double kSlack = 1e-9;

using SampleValues = std::array<double, VisibleTriangles::kSamples>;

// A linear function's differences from a pixel's corner to its samples.
SampleValues steps_of(const ScreenPlane& plane) {
  SampleValues steps;
  for (int s = 0; s < VisibleTriangles::kSamples; ++s) {
    steps[s] = offset_of(s, 0) * plane.dx + offset_of(s, 1) * plane.dy;
  }
  return steps;
}

}  // namespace

ScreenTriangle::ScreenTriangle(const std::array<ScreenPoint, 3>& corners) : corners_(corners) {
  const auto& [a, b, c] = corners;
  const double area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
  has_area_ = std::isfinite(area) && area != 0.0 && std::isfinite(1.0 / area);
  if (!has_area_) return;
  for (int i = 0; i < 3; ++i) {
    const ScreenPoint& from = corners[(i + 1) % 3];
    const ScreenPoint& to = corners[(i + 2) % 3];
    weights_[i].dx = (from.y - to.y) / area;
    weights_[i].dy = (to.x - from.x) / area;
    weights_[i].at_origin = -(from.x * weights_[i].dx + from.y * weights_[i].dy);
  }
}

ScreenPlane ScreenTriangle::plane(const std::array<double, 3>& values) const {
  ScreenPlane plane;
  for (int i = 0; i < 3; ++i) {
    plane.at_origin += values[i] * weights_[i].at_origin;
    plane.dx += values[i] * weights_[i].dx;
    plane.dy += values[i] * weights_[i].dy;
  }
  return plane;
}

ScreenPlane ScreenTriangle::inverse_depth() const {
  return plane({corners_[0].inverse_depth, corners_[1].inverse_depth, corners_[2].inverse_depth});
}

VisibleTriangles::VisibleTriangles(int width, int rows)
    : width_(width),
      rows_(rows),
      triangles_(static_cast<std::size_t>(width) * rows),
      inverse_depths_(static_cast<std::size_t>(width) * rows) {}

std::array<double, 2> VisibleTriangles::offset(int sample) {
  return {offset_of(sample, 0), offset_of(sample, 1)};
}

void VisibleTriangles::clear(int first_row) {
  first_row_ = first_row;
  Samples nothing;
  nothing.fill(kNone);
  std::fill(triangles_.begin(), triangles_.end(), nothing);
  std::fill(inverse_depths_.begin(), inverse_depths_.end(), std::array<float, kSamples>{});
}

void VisibleTriangles::draw(int triangle, const ScreenTriangle& shape, const ScreenPlane* height) {
  const auto& [a, b, c] = shape.corners();
  const auto first_of = [](double value) { return static_cast<int>(std::floor(value)); };
  const double bottom = first_row_ + rows_ - 1;
  const double top = first_row_;
  const double right = width_ - 1;
  const int y_begin = first_of(std::clamp(std::min({a.y, b.y, c.y}), top, bottom));
  const int y_end = first_of(std::clamp(std::max({a.y, b.y, c.y}), top, bottom));
  const int x_begin = first_of(std::clamp(std::min({a.x, b.x, c.x}), 0.0, right));
  const int x_end = first_of(std::clamp(std::max({a.x, b.x, c.x}), 0.0, right));
  // The weights of the corners, and the height.
  const ScreenPlane limits[4] = {shape.weight(0), shape.weight(1), shape.weight(2),
                                 height != nullptr ? *height : ScreenPlane{}};
  SampleValues steps[4];
  double lowest[4];
  double highest[4];
  for (int i = 0; i < 4; ++i) {
    steps[i] = steps_of(limits[i]);
    // Of a pixel's corners, between which its samples are.
    lowest[i] = std::min(limits[i].dx, 0.0) + std::min(limits[i].dy, 0.0);
    highest[i] = std::max(limits[i].dx, 0.0) + std::max(limits[i].dy, 0.0);
  }
  const ScreenPlane depth = shape.inverse_depth();
  const SampleValues depth_steps = steps_of(depth);
  for (int y = y_begin; y <= y_end; ++y) {
    for (int x = x_begin; x <= x_end; ++x) {
      double corner[4];
      bool is_outside = false;
      bool is_inside = true;
      for (int i = 0; i < 4; ++i) {
        corner[i] = limits[i](x, y) + kSlack;
        is_outside = is_outside || corner[i] + highest[i] < 0.0;
        is_inside = is_inside && corner[i] + lowest[i] >= 0.0;
      }
      if (is_outside) continue;
      const auto pixel = static_cast<std::size_t>(y - first_row_) * width_ + x;
      Samples& triangles = triangles_[pixel];
      auto& inverse_depths = inverse_depths_[pixel];
      const double corner_depth = depth(x, y);
      // Without branches, for the compiler to use SIMD.
      std::array<bool, kSamples> is_seen;
      for (int s = 0; s < kSamples; ++s) {
        is_seen[s] = static_cast<float>(corner_depth + depth_steps[s]) > inverse_depths[s];
      }
      if (!is_inside) {
        for (int i = 0; i < 4; ++i) {
          for (int s = 0; s < kSamples; ++s) is_seen[s] &= corner[i] + steps[i][s] >= 0.0;
        }
      }
      for (int s = 0; s < kSamples; ++s) {
        triangles[s] = is_seen[s] ? triangle : triangles[s];
        inverse_depths[s] =
            is_seen[s] ? static_cast<float>(corner_depth + depth_steps[s]) : inverse_depths[s];
      }
    }
  }
}

}  // namespace tessera
