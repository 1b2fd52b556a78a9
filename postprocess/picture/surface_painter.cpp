// This file looks at a surface, band after band of pixel rows.
#include "postprocess/picture/surface_painter.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "mesh/cell_locator.hpp"

namespace tessera {
namespace {

constexpr int kBandRows = 8;

// Of what is not a number, 0.
std::uint8_t byte_of(double part) {
  const double shade = 255.0 * std::min(part, 1.0) + 0.5;
  return part > 0.0 ? static_cast<std::uint8_t>(shade) : 0;
}

}  // namespace

/// Finds what is seen at a point of a picture in a triangle.
class SurfacePainter::Shader {
 public:
  Shader(const SurfacePainter& painter, const double* values, const ValueScale& scale)
      : painter_(painter),
        scale_(scale),
        mesh_(painter.discretization_.mesh),
        locate_(mesh_),
        interpolant_(painter.discretization_.lattice, painter.basis_, values) {}

  Seen at(int triangle, double x, double y) {
    if (triangle != triangle_) take(triangle);
    const Point box = box_at(x, y);
    const CellPoint point = locate_(box);
    Seen seen{.fraction = scale_.fraction(interpolant_(point)),
              .light = light_(x, y) / inverse_depth_(x, y),
              .coverage = 1.0};
    add_edges(box, point, x, y, seen);
    return seen;
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

  // Those of cells, and those of the surface's smooth parts.
  void add_edges(const Point& box, const CellPoint& point, double x, double y, Seen& seen) const {
    const Point right = box_at(x + 1.0, y);
    const Point below = box_at(x, y + 1.0);
    for (int d = 0; d < mesh_.dimension(); ++d) {
      if (fixed_ && fixed_->axis == d) continue;
      const double lower = mesh_.lower()[d];
      const double upper = mesh_.upper()[d];
      const double per_pixel = length(right[d] - box[d], below[d] - box[d]);
      // Where the cut is all but parallel to the planes of an axis, their edges are stains.
      if (!(per_pixel > 1e-7 * (upper - lower))) continue;
      const double from_end = std::min(std::abs(box[d] - lower), std::abs(upper - box[d]));
      seen.part_edge = std::max(seen.part_edge, line_opacity(from_end / per_pixel, 1.6));
      const double spacing = mesh_.cell_width(d, point.cell[d]) / per_pixel;
      const double distance = spacing * std::min(point.xi[d], 1.0 - point.xi[d]);
      const double strength = clearness(spacing, 7.0, 14.0) * clearness(-spacing, -2000.0, -1000.0);
      seen.cell_edge = std::max(seen.cell_edge, strength * line_opacity(std::abs(distance), 1.0));
    }
  }

  const SurfacePainter& painter_;
  const ValueScale& scale_;
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
                               const Surface& surface, const Camera& camera)
    : discretization_(discretization),
      basis_(basis),
      surface_(surface),
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

SurfacePixels SurfacePainter::sample(const double* values, const ValueScale& scale, int width,
                                     int height) const {
  SurfacePixels pixels(width, height);
  const int bands = (height + kBandRows - 1) / kBandRows;
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
  std::vector<VisibleTriangles> visible(static_cast<std::size_t>(threads), {width, kBandRows});
  std::vector<Shader> shaders(static_cast<std::size_t>(threads), Shader(*this, values, scale));
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (int band = 0; band < bands; ++band) {
    if (in_band[band].empty()) continue;
    const int thread = omp_get_thread_num();
    sample_band(band * kBandRows, in_band[band], visible[thread], shaders[thread], pixels);
  }
  return pixels;
}

void SurfacePainter::sample_band(int first_row, const std::vector<int>& triangles,
                                 VisibleTriangles& visible, Shader& shader,
                                 SurfacePixels& pixels) const {
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
  const int rows = std::min(kBandRows, pixels.height() - first_row);
  for (int row = 0; row < rows; ++row) {
    const int y = first_row + row;
    for (int x = 0; x < pixels.width(); ++x) {
      const Seen seen = look(x, y, visible.at(x, row), shader);
      if (seen.coverage == 0.0) continue;
      pixels.set(x, y,
                 {byte_of(seen.coverage), byte_of(seen.light), byte_of(seen.cell_edge),
                  byte_of(seen.part_edge)},
                 static_cast<float>(seen.fraction));
    }
  }
}

SurfacePainter::Seen SurfacePainter::look(int x, int y, const VisibleTriangles::Samples& samples,
                                          Shader& shader) const {
  if (std::all_of(samples.begin(), samples.end(), [&](int s) { return s == samples[0]; })) {
    if (samples[0] == VisibleTriangles::kNone) return {};
    return shader.at(samples[0], x + 0.5, y + 0.5);
  }
  // Each smooth part is looked at once, in the middle of its samples.
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
  double covered = 0.0;
  int most = 0;
  for (int i = 0; i < part_count; ++i) {
    const Part& part = parts[i];
    const Seen seen = shader.at(part.triangle, x + part.x / part.count, y + part.y / part.count);
    covered += part.count;
    const double share = part.count / covered;
    all.light += share * (seen.light - all.light);
    all.cell_edge += share * (seen.cell_edge - all.cell_edge);
    all.part_edge += share * (seen.part_edge - all.part_edge);
    if (part.count <= most) continue;
    most = part.count;
    all.fraction = seen.fraction;
  }
  all.coverage = covered / VisibleTriangles::kSamples;
  return all;
}

}  // namespace tessera
