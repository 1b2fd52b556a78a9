// This file paints a surface, band after band of pixel rows.
#include "postprocess/picture/surface_painter.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "mesh/cell_locator.hpp"
#include "postprocess/picture/viridis.hpp"

namespace tessera {
namespace {

constexpr int kBandRows = 8;
constexpr Color kDark = {0.05F, 0.05F, 0.08F};
constexpr Color kLight = {1.0F, 1.0F, 1.0F};

// Opacity, at so many pixels from its middle, of a line.
double line_opacity(double distance, double width) {
  return std::clamp(0.5 * width + 0.5 - distance, 0.0, 1.0);
}

// 1 for lines that are far from each other, 0 for those that would be a grey mass.
double clearness(double spacing, double least, double enough) {
  return std::clamp((spacing - least) / (enough - least), 0.0, 1.0);
}

// Of numbers whose squares are in range; hypot() is slow.
double length(double x, double y) { return std::sqrt(x * x + y * y); }

}  // namespace

/// Finds what is seen at a point of a picture in a triangle.
class SurfacePainter::Shader {
 public:
  explicit Shader(const SurfacePainter& painter)
      : painter_(painter),
        mesh_(painter.discretization_.mesh),
        locate_(mesh_),
        interpolant_(painter.discretization_.lattice, painter.basis_, painter.values_) {}

  Seen at(int triangle, double x, double y) {
    if (triangle != triangle_) take(triangle);
    const Point box = box_at(x, y);
    const CellPoint point = locate_(box);
    const double fraction = painter_.scale_.fraction(interpolant_(point));
    const double light = light_(x, y) / inverse_depth_(x, y);
    Color color = mixed({0.0F, 0.0F, 0.0F}, viridis(fraction), static_cast<float>(light));
    return {with_edges(color, box, point, x, y), fraction, 1.0F};
  }

 private:
  void take(int triangle) {
    triangle_ = triangle;
    const SurfaceTriangle& corners = painter_.surface_.triangles[triangle];
    fixed_ = painter_.surface_.patches[corners.patch].fixed;
    const ScreenTriangle shape = painter_.screen_triangle(triangle);
    inverse_depth_ = shape.inverse_depth();
    const auto plane_of = [&](auto&& value_at) {
      std::array<double, 3> values{};
      for (int i = 0; i < 3; ++i) {
        values[i] = value_at(corners.vertices[i]) * shape.corners()[i].inverse_depth;
      }
      return shape.plane(values);
    };
    for (int d = 0; d < 3; ++d) {
      box_[d] = plane_of([&](int vertex) { return painter_.surface_.vertices[vertex].box[d]; });
    }
    light_ = plane_of([&](int vertex) { return painter_.light_[vertex]; });
  }

  Point box_at(double x, double y) const {
    const double depth = 1.0 / inverse_depth_(x, y);
    Point box{};
    for (int d = 0; d < mesh_.dimension(); ++d) box[d] = depth * box_[d](x, y);
    if (fixed_) box[fixed_->axis] = fixed_->value;
    return box;
  }

  // The color with the edges of cells, and with those of the surface's smooth parts.
  Color with_edges(const Color& color, const Point& box, const CellPoint& point, double x,
                   double y) const {
    const Point right = box_at(x + 1.0, y);
    const Point below = box_at(x, y + 1.0);
    double of_cells = 0.0;
    double of_parts = 0.0;
    for (int d = 0; d < mesh_.dimension(); ++d) {
      if (fixed_ && fixed_->axis == d) continue;
      const double lower = mesh_.lower()[d];
      const double upper = mesh_.upper()[d];
      const double per_pixel = length(right[d] - box[d], below[d] - box[d]);
      // Where the cut is all but parallel to the planes of an axis, their edges are stains.
      if (!(per_pixel > 1e-7 * (upper - lower))) continue;
      const double from_end = std::min(std::abs(box[d] - lower), std::abs(upper - box[d]));
      of_parts = std::max(of_parts, line_opacity(from_end / per_pixel, 1.6));
      const double spacing = mesh_.cell_width(d, point.cell[d]) / per_pixel;
      const double distance = spacing * std::min(point.xi[d], 1.0 - point.xi[d]);
      const double strength = clearness(spacing, 7.0, 14.0) * clearness(-spacing, -2000.0, -1000.0);
      of_cells = std::max(of_cells, strength * line_opacity(std::abs(distance), 1.0));
    }
    const Color with_cells = mixed(color, kLight, static_cast<float>(0.33 * of_cells));
    return mixed(with_cells, kDark, static_cast<float>(0.85 * of_parts));
  }

  const SurfacePainter& painter_;
  const BoxMesh& mesh_;
  CellLocator locate_;
  Interpolant interpolant_;
  int triangle_ = -1;
  std::optional<SurfacePatch::Fixed> fixed_;
  ScreenPlane inverse_depth_;
  std::array<ScreenPlane, 3> box_;  // divided by depth
  ScreenPlane light_;               // divided by depth
};

SurfacePainter::SurfacePainter(const Discretization& discretization, const LineBasis& basis,
                               const double* values, const Surface& surface, const Camera& camera,
                               const ValueScale& scale)
    : discretization_(discretization),
      basis_(basis),
      values_(values),
      surface_(surface),
      scale_(scale),
      points_(surface.vertices.size()),
      light_(surface.vertices.size(), 1.0) {
  const Point& towards = camera.direction();
  // The cut has its colors as they are.
  const double full = surface.cut ? std::abs(towards[surface.cut->axis]) : 1.0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const SurfaceVertex& vertex = surface.vertices[i];
    points_[i] = camera.project(vertex.position);
    const Point& n = vertex.normal;
    if (n == Point{} || discretization.mesh.dimension() == 2) continue;
    const double cosine = std::abs(n[0] * towards[0] + n[1] * towards[1] + n[2] * towards[2]);
    light_[i] = 0.76 + 0.24 * std::min(1.0, cosine / full);
  }
}

ScreenTriangle SurfacePainter::screen_triangle(int triangle) const {
  const auto& [a, b, c] = surface_.triangles[triangle].vertices;
  return ScreenTriangle({points_[a], points_[b], points_[c]});
}

void SurfacePainter::paint(Image& image) {
  width_ = image.width();
  if (has_iso_lines()) {
    fractions_.assign(static_cast<std::size_t>(width_) * image.height(),
                      std::numeric_limits<float>::quiet_NaN());
  }
  const int bands = (image.height() + kBandRows - 1) / kBandRows;
  std::vector<std::vector<int>> in_band(static_cast<std::size_t>(bands));
  const auto band_of = [&](double y) {
    return y > 0.0 ? static_cast<int>(std::min(y / kBandRows, bands - 1.0)) : 0;  // of NaN, too
  };
  for (std::size_t i = 0; i < surface_.triangles.size(); ++i) {
    const auto& [a, b, c] = surface_.triangles[i].vertices;
    const auto [top, bottom] = std::minmax({points_[a].y, points_[b].y, points_[c].y});
    for (int band = band_of(top); band <= band_of(bottom); ++band) {
      in_band[band].push_back(static_cast<int>(i));
    }
  }
  // Made here, where a lack of memory can be told.
  const int threads = std::min(omp_get_max_threads(), bands);
  std::vector<VisibleTriangles> visible(static_cast<std::size_t>(threads), {width_, kBandRows});
  std::vector<Shader> shaders(static_cast<std::size_t>(threads), Shader(*this));
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (int band = 0; band < bands; ++band) {
    if (in_band[band].empty()) continue;
    const int thread = omp_get_thread_num();
    paint_band(band * kBandRows, in_band[band], visible[thread], shaders[thread], image);
  }
}

void SurfacePainter::paint_band(int first_row, const std::vector<int>& triangles,
                                VisibleTriangles& visible, Shader& shader, Image& image) {
  visible.clear(first_row);
  for (const int triangle : triangles) {
    const ScreenTriangle shape = screen_triangle(triangle);
    if (!shape.has_area()) continue;
    bool is_crossed = false;
    std::array<double, 3> heights{};
    if (surface_.cut && surface_.patches[surface_.triangles[triangle].patch].is_cut_open) {
      for (int i = 0; i < 3; ++i) {
        const int vertex = surface_.triangles[triangle].vertices[i];
        heights[i] = surface_.cut->height(surface_.vertices[vertex].position);
        is_crossed = is_crossed || heights[i] < 0.0;
        heights[i] *= points_[vertex].inverse_depth;
      }
    }
    const ScreenPlane height = shape.plane(heights);
    visible.draw(triangle, shape, is_crossed ? &height : nullptr);
  }
  const int rows = std::min(kBandRows, image.height() - first_row);
  for (int row = 0; row < rows; ++row) {
    const int y = first_row + row;
    for (int x = 0; x < width_; ++x) {
      const Seen seen = look(x, y, visible.at(x, row), shader);
      if (seen.coverage == 0.0F) continue;
      image.blend(x, y, seen.color, seen.coverage);
      if (has_iso_lines()) {
        fractions_[static_cast<std::size_t>(y) * width_ + x] = static_cast<float>(seen.fraction);
      }
    }
  }
}

SurfacePainter::Seen SurfacePainter::look(int x, int y, const VisibleTriangles::Samples& samples,
                                          Shader& shader) const {
  if (std::all_of(samples.begin(), samples.end(), [&](int s) { return s == samples[0]; })) {
    if (samples[0] == VisibleTriangles::kNone) return {};
    return shader.at(samples[0], x + 0.5, y + 0.5);
  }
  // Each smooth part is colored once, in the middle of its samples.
  struct Part {
    int triangle;
    int patch;
    int count;
    double x;
    double y;
  };
  std::array<Part, VisibleTriangles::kSamples> parts;
  int part_count = 0;
  for (int s = 0; s < VisibleTriangles::kSamples; ++s) {
    if (samples[s] == VisibleTriangles::kNone) continue;
    const int patch = surface_.triangles[samples[s]].patch;
    const auto [dx, dy] = VisibleTriangles::offset(s);
    int i = 0;
    while (i < part_count && parts[i].patch != patch) ++i;
    if (i == part_count) parts[part_count++] = {samples[s], patch, 0, 0.0, 0.0};
    ++parts[i].count;
    parts[i].x += dx;
    parts[i].y += dy;
  }
  Seen all;
  int covered = 0;
  int most = 0;
  for (int i = 0; i < part_count; ++i) {
    const Part& part = parts[i];
    const Seen seen = shader.at(part.triangle, x + part.x / part.count, y + part.y / part.count);
    covered += part.count;
    all.color =
        mixed(all.color, seen.color, static_cast<float>(part.count) / static_cast<float>(covered));
    if (part.count <= most) continue;
    most = part.count;
    all.fraction = seen.fraction;
  }
  all.coverage = static_cast<float>(covered) / VisibleTriangles::kSamples;
  return all;
}

void SurfacePainter::paint_iso_lines(Image& image) const {
  if (!has_iso_lines()) return;
  const double first = scale_.fraction(scale_.ticks().front());
  const double step = scale_.step() / (scale_.high() - scale_.low());
  const auto at = [&](int x, int y) {
    const bool is_there = x >= 0 && y >= 0 && x < width_ && y < image.height();
    return is_there ? static_cast<double>(fractions_[static_cast<std::size_t>(y) * width_ + x])
                    : std::numeric_limits<double>::quiet_NaN();
  };
  const auto slope = [](double before, double here, double after) {
    const bool has_before = !std::isnan(before);
    const bool has_after = !std::isnan(after);
    if (has_before && has_after) return 0.5 * (after - before);
    return has_after ? after - here : has_before ? here - before : 0.0;
  };
#pragma omp parallel for schedule(static, kBandRows)
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < width_; ++x) {
      const double here = at(x, y);
      if (std::isnan(here)) continue;
      const double level = first + step * std::round((here - first) / step);
      // The ends of the scale are places rather than lines.
      if (level < 1e-6 || level > 1.0 - 1e-6) continue;
      const double gradient =
          length(slope(at(x - 1, y), here, at(x + 1, y)), slope(at(x, y - 1), here, at(x, y + 1)));
      if (!(gradient > 1e-5)) continue;
      const double opacity = 0.8 * clearness(step / gradient, 2.0, 5.0) *
                             line_opacity(std::abs(here - level) / gradient, 1.1);
      if (opacity > 0.0) image.blend(x, y, kDark, static_cast<float>(opacity));
    }
  }
}

}  // namespace tessera
