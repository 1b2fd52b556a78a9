// This file puts the parts of a picture together.
#include "postprocess/picture/solution_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "postprocess/files/human_units.hpp"
#include "postprocess/picture/annotation.hpp"
#include "postprocess/picture/extrema.hpp"
#include "postprocess/picture/surface_painter.hpp"

namespace tessera {
namespace {

constexpr int kWidth = 1200;
constexpr int kHeight = 900;
// Of mapped meshes, along an axis: some 10 pixels in 3D, 5 in 2D.
constexpr int kIntervals2D = 128;
constexpr int kIntervals3D = 56;
// What takes about 0.1 s to go through.
constexpr std::size_t kMaxScanned = 100'000'000;

std::string place_text(const Discretization& discretization, const SampledMap& map, Index node) {
  Point x;
  discretization.mapping.node_positions(node, 1, x.data(), &x[1], &x[2]);
  std::string text;
  for (int d = 0; d < map.dimension(); ++d) {
    text += (d > 0 ? ", " : "") + human_number(x[d], map.upper()[d] - map.lower()[d], 4);
  }
  return "(" + text + ")";
}

std::string mesh_text(const Discretization& discretization) {
  const BoxMesh& mesh = discretization.mesh;
  std::string cells;
  for (int d = 0; d < mesh.dimension(); ++d) {
    cells += fmt::format("{}{}", d > 0 ? " × " : "", mesh.cells()[d]);
  }
  return fmt::format("{} cells of degree {}, {} DoFs", cells, discretization.lattice.degree(),
                     human_count(static_cast<double>(discretization.lattice.dof_count())));
}

}  // namespace

SolutionPicture draw_solution(const Discretization& discretization, std::span<const double> values,
                              std::pair<double, double> range, const PictureText& text) {
  const int dimension = discretization.mesh.dimension();
  const LineBasis basis(discretization.basis.nodes);
  const SampledMap map(discretization, basis, dimension == 2 ? kIntervals2D : kIntervals3D);
  Captions captions = {text.title, {}, {}};
  if (!text.status.empty()) captions.warnings.push_back(text.status);

  const bool is_known = std::isfinite(range.first) && std::isfinite(range.second);
  std::string min_place;
  std::string max_place;
  if (!is_known || values.size() <= kMaxScanned) {
    const Extrema extrema = find_extrema(values);
    range = {extrema.min.value, extrema.max.value};
    if (extrema.not_finite > 0) {
      captions.warnings.push_back(fmt::format(
          "{} values are not finite (grey)", human_count(static_cast<double>(extrema.not_finite))));
    }
    if (extrema.min.is_unique) {
      min_place = " at " + place_text(discretization, map, extrema.min.node);
    }
    if (extrema.max.is_unique) {
      max_place = " at " + place_text(discretization, map, extrema.max.node);
    }
  }
  const ValueScale scale(range.first, range.second, 12);
  if (scale.is_constant()) {
    captions.lines.push_back(fmt::format("u = {:.6g}, constant", scale.low()));
  } else if (!scale.is_empty()) {
    const double size = scale.high() - scale.low();
    captions.lines.push_back(fmt::format("min {}{},   max {}{}", human_number(scale.low(), size, 6),
                                         min_place, human_number(scale.high(), size, 6),
                                         max_place));
  }
  captions.lines.push_back(mesh_text(discretization) + "; " + text.program);

  Image image(kWidth, kHeight);
  const Font font;
  const Surface surface = make_surface(map);
  const Camera camera(dimension, map.lower(), map.upper(), plot_area(image, dimension));
  if (dimension == 3) {
    draw_back_edges(camera, map.lower(), map.upper(), image);
    const std::string axes = axes_text(camera, map.lower(), map.upper());
    if (!axes.empty()) captions.lines.front() += "; " + axes;
  }
  SurfacePainter painter(discretization, basis, values.data(), surface, camera, scale);
  painter.paint(image);
  if (dimension == 2) painter.paint_iso_lines(image);
  draw_axes(font, camera, dimension, map.lower(), map.upper(), image);
  draw_color_bar(font, scale, image);
  draw_captions(font, captions, image);
  return {image.to_png(),
          font.is_there() ? "" : "solution.png has no text: the font DejaVu Sans is not installed"};
}

Index picture_bytes(int dimension, bool is_mapped, int threads) {
  // Pixels and their PNG; samples of a band of rows; vertices and triangles.
  constexpr Index kMebibyte = Index{1} << 20;
  const Index pixels = (dimension == 2 ? 12 : 8) * kMebibyte;
  const Index geometry = is_mapped ? (dimension == 2 ? 12 : 24) * kMebibyte : 0;
  return pixels + geometry + threads * kMebibyte;
}

}  // namespace tessera
