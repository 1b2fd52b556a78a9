// This file puts the parts of a picture together.
#include "postprocess/picture/solution_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "postprocess/files/human_units.hpp"
#include "postprocess/picture/extrema.hpp"
#include "postprocess/picture/surface_painter.hpp"

namespace tessera {
namespace {

// Of mapped meshes, along an axis: some 10 pixels in 3D, 5 in 2D.
constexpr int kIntervals2D = 128;
constexpr int kIntervals3D = 56;
// About how many numbers are at the color bar.
constexpr int kMaxTicks = 12;
// What takes about 0.1 s to go through.
constexpr std::size_t kMaxScanned = 100'000'000;

std::string place_text(const Discretization& discretization, const SampledMap& map, Index node) {
  Point x{};
  discretization.mapping.node_positions(node, 1, x.data(), &x[1], &x[2]);
  x = discretization.frame.physical(x);
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

SolutionPainter::SolutionPainter(const Discretization& discretization, PictureSize size)
    : discretization_(discretization),
      size_(size),
      basis_(discretization.basis.nodes),
      map_(discretization, basis_,
           discretization.mesh.dimension() == 2 ? kIntervals2D : kIntervals3D),
      surface_(make_surface(map_)),
      camera_(map_.dimension(), map_.lower(), map_.upper(),
              plot_area(Image(size.width, size.height), map_.dimension())),
      pixels_(size.width, size.height) {}

SampledSolution SolutionPainter::sample(std::span<const double> values,
                                        std::pair<double, double> range, const PictureText& text) {
  SampledSolution sampled{{text.title, {}, {}}, {}, {}};
  Captions& captions = sampled.captions;
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
      min_place = " at " + place_text(discretization_, map_, extrema.min.node);
    }
    if (extrema.max.is_unique) {
      max_place = " at " + place_text(discretization_, map_, extrema.max.node);
    }
  }
  const ValueScale scale(range.first, range.second, kMaxTicks);
  if (scale.is_constant()) {
    captions.lines.push_back(fmt::format("u = {:.6g}, constant", scale.low()));
  } else if (!scale.is_empty()) {
    const double size = scale.high() - scale.low();
    captions.lines.push_back(fmt::format("min {}{},   max {}{}", human_number(scale.low(), size, 6),
                                         min_place, human_number(scale.high(), size, 6),
                                         max_place));
  }
  if (map_.dimension() == 3) {
    const std::string axes = axes_text(camera_, map_.lower(), map_.upper());
    if (!axes.empty()) captions.lines.push_back(axes);
  }
  captions.lines.push_back(mesh_text(discretization_) + "; " + text.program);

  const SurfacePainter painter(discretization_, basis_, surface_, camera_);
  pixels_ = painter.sample(values.data(), scale, size_.width, size_.height);
  sampled.range = range;
  sampled.fractions = pixels_.seen_fractions();
  return sampled;
}

SolutionPicture SolutionPainter::draw(const SampledSolution& sampled,
                                      std::pair<double, double> range) {
  const ValueScale scale(range.first, range.second, kMaxTicks);
  std::vector<float> fractions = sampled.fractions;
  if (range != sampled.range) {
    const auto [low, high] = sampled.range;
    for (float& fraction : fractions) {
      const double t = fraction;
      fraction = static_cast<float>(scale.fraction((1.0 - t) * low + t * high));
    }
  }
  pixels_.set_seen_fractions(fractions);

  Image image(size_.width, size_.height);
  const int dimension = map_.dimension();
  if (dimension == 3) draw_back_edges(camera_, map_.lower(), map_.upper(), image);
  pixels_.paint(image);
  if (dimension == 2) pixels_.paint_iso_lines(scale, image);
  draw_axes(font_, camera_, dimension, map_.lower(), map_.upper(), image);
  draw_color_bar(font_, scale, image);
  draw_captions(font_, sampled.captions, image);
  return {image.to_png(),
          font_.is_there() ? "" : "pictures have no text: the font DejaVu Sans is not installed"};
}

Index picture_bytes(int dimension, bool is_mapped, int threads) {
  // Pixels and their PNG; samples of a band of rows; vertices and triangles.
  constexpr Index kMebibyte = Index{1} << 20;
  const Index pixels = 20 * kMebibyte;
  const Index geometry = is_mapped ? (dimension == 2 ? 12 : 24) * kMebibyte : 0;
  return pixels + geometry + threads * kMebibyte;
}

}  // namespace tessera
