// This file gives pixels their colors.
#include "postprocess/picture/surface_pixels.hpp"

#include <limits>

#include "postprocess/picture/canvas/viridis.hpp"

namespace tessera {
namespace {

constexpr Color kBlack = {0.0F, 0.0F, 0.0F};
constexpr Color kDark = {0.05F, 0.05F, 0.08F};
constexpr Color kLight = {1.0F, 1.0F, 1.0F};

float part_of(std::uint8_t byte) { return static_cast<float>(byte) / 255.0F; }

}  // namespace

SurfacePixels::SurfacePixels(int width, int height)
    : width_(width),
      height_(height),
      shades_(static_cast<std::size_t>(width) * height),
      fractions_(shades_.size(), std::numeric_limits<float>::quiet_NaN()) {}

std::vector<float> SurfacePixels::seen_fractions() const {
  std::vector<float> seen;
  for (std::size_t i = 0; i < shades_.size(); ++i) {
    if (shades_[i].coverage > 0) seen.push_back(fractions_[i]);
  }
  seen.shrink_to_fit();
  return seen;
}

void SurfacePixels::set_seen_fractions(std::span<const float> seen) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < shades_.size(); ++i) {
    if (shades_[i].coverage > 0) fractions_[i] = seen[next++];
  }
}

void SurfacePixels::paint(Image& image) const {
#pragma omp parallel for
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x) {
      const PixelShade& shade = shades_[at(x, y)];
      if (shade.coverage == 0) continue;
      const Color lit = mixed(kBlack, viridis(fractions_[at(x, y)]), part_of(shade.light));
      const Color with_cells = mixed(lit, kLight, 0.33F * part_of(shade.cell_edge));
      const Color color = mixed(with_cells, kDark, 0.85F * part_of(shade.part_edge));
      image.blend(x, y, color, part_of(shade.coverage));
    }
  }
}

void SurfacePixels::paint_iso_lines(const ValueScale& scale, Image& image) const {
  if (scale.ticks().empty()) return;
  const double first = scale.fraction(scale.ticks().front());
  const double step = scale.step() / (scale.high() - scale.low());
  const auto fraction_at = [&](int x, int y) {
    const bool is_there = x >= 0 && y >= 0 && x < width_ && y < height_;
    return is_there ? static_cast<double>(fractions_[at(x, y)])
                    : std::numeric_limits<double>::quiet_NaN();
  };
  const auto slope = [](double before, double here, double after) {
    const bool has_before = !std::isnan(before);
    const bool has_after = !std::isnan(after);
    if (has_before && has_after) return 0.5 * (after - before);
    return has_after ? after - here : has_before ? here - before : 0.0;
  };
#pragma omp parallel for schedule(static, 8)
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x) {
      const double here = fraction_at(x, y);
      if (std::isnan(here)) continue;
      const double level = first + step * std::round((here - first) / step);
      // The ends of the scale are places rather than lines.
      if (level < 1e-6 || level > 1.0 - 1e-6) continue;
      const double gradient = length(slope(fraction_at(x - 1, y), here, fraction_at(x + 1, y)),
                                     slope(fraction_at(x, y - 1), here, fraction_at(x, y + 1)));
      if (!(gradient > 1e-5)) continue;
      const double opacity = 0.8 * clearness(step / gradient, 2.0, 5.0) *
                             line_opacity(std::abs(here - level) / gradient, 1.1);
      if (opacity > 0.0) image.blend(x, y, kDark, static_cast<float>(opacity));
    }
  }
}

}  // namespace tessera
