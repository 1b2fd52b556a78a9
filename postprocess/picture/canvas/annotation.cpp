// This file draws lines and texts beside a surface.
#include "postprocess/picture/canvas/annotation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "postprocess/files/human_units.hpp"
#include "postprocess/picture/canvas/viridis.hpp"

namespace tessera {
namespace {

constexpr Color kText = {0.12F, 0.12F, 0.14F};
constexpr Color kFaint = {0.40F, 0.40F, 0.43F};
constexpr Color kOutline = {0.62F, 0.62F, 0.65F};
constexpr Color kWarning = {0.78F, 0.08F, 0.08F};
constexpr double kSmall = 17.0;
constexpr double kLarge = 27.0;
constexpr double kMargin = 36.0;
constexpr const char* kAxisNames[] = {"x", "y", "z"};
// Half of the height of figures, by which a text is centered at a point.
constexpr double kHalfHeight = 0.36;

// A corner of the bounds; bit d: at the upper end of axis d.
Point corner_of(const Point& lower, const Point& upper, int corner) {
  Point x;
  for (int d = 0; d < 3; ++d) x[d] = (corner >> d & 1) != 0 ? upper[d] : lower[d];
  return x;
}

void draw_edge(const Camera& camera, const Point& lower, const Point& upper, int corner, int axis,
               Image& image) {
  const ScreenPoint a = camera.project(corner_of(lower, upper, corner));
  const ScreenPoint b = camera.project(corner_of(lower, upper, corner | 1 << axis));
  image.line(a.x, a.y, b.x, b.y, 1.2, kOutline);
}

// Seen from x and y below and z above, this corner is behind all others.
constexpr int kHiddenCorner = 0b011;

enum class Edges { behind, in_front };

// Calls use(corner, axis) for each edge of the bounds that is behind all within, or in front of it.
template <class Use>
void for_each_edge(Edges edges, Use&& use) {
  for (int axis = 0; axis < 3; ++axis) {
    for (int corner = 0; corner < 8; ++corner) {
      if ((corner >> axis & 1) != 0) continue;
      const bool is_hidden = corner == kHiddenCorner || (corner | 1 << axis) == kHiddenCorner;
      if (is_hidden == (edges == Edges::behind)) use(corner, axis);
    }
  }
}

std::string axis_name(const Camera& camera, int d) {
  const double stretch = camera.stretch()[d];
  if (stretch == 1.0) return kAxisNames[d];
  return fmt::format("{} (stretched {:.3g} times)", kAxisNames[d], stretch);
}

// The coordinates at both ends of an axis.
std::pair<std::string, std::string> ends_of(const Point& lower, const Point& upper, int axis) {
  const double size = upper[axis] - lower[axis];
  return {human_number(lower[axis], size, 4), human_number(upper[axis], size, 4)};
}

// The corner at which the edge begins that is labeled, by axis.
constexpr int kLabeledCorner[] = {0b000, 0b000, 0b010};
// Of fewer pixels than this the coordinates at both ends would overlap.
constexpr double kShortEdge = 120.0;

double edge_length(const Camera& camera, const Point& lower, const Point& upper, int axis) {
  const int corner = kLabeledCorner[axis];
  const ScreenPoint a = camera.project(corner_of(lower, upper, corner));
  const ScreenPoint b = camera.project(corner_of(lower, upper, corner | 1 << axis));
  return std::hypot(b.x - a.x, b.y - a.y);
}

// Coordinates along one edge of the bounds in 3D, away from their middle.
void label_edge(const Font& font, const Camera& camera, const Point& lower, const Point& upper,
                int axis, Image& image) {
  const int corner = kLabeledCorner[axis];
  const ScreenPoint a = camera.project(corner_of(lower, upper, corner));
  const ScreenPoint b = camera.project(corner_of(lower, upper, corner | 1 << axis));
  const double length = std::hypot(b.x - a.x, b.y - a.y);
  // Outwards: downwards, or to the left of an edge that is upright.
  double nx = -(b.y - a.y) / length;
  double ny = (b.x - a.x) / length;
  if (axis == 2 ? nx > 0.0 : ny < 0.0) {
    nx = -nx;
    ny = -ny;
  }
  const TextAlign align = nx < -0.3 ? TextAlign::right : TextAlign::center;
  const auto write = [&](double along, const std::string& text) {
    const double x = a.x + along * (b.x - a.x) + 16.0 * nx;
    const double y = a.y + along * (b.y - a.y) + 20.0 * ny + kHalfHeight * kSmall;
    font.write(image, text, x, y, kSmall, kText, align);
  };
  write(0.5, kAxisNames[axis]);
  if (length < kShortEdge) return;  // axes_text() has them
  const double inset = 16.0 / length;
  const auto [from, to] = ends_of(lower, upper, axis);
  write(inset, from);
  write(1.0 - inset, to);
}

// "× 10⁵"; nothing for 0.
std::string exponent_text(int exponent) {
  if (exponent == 0) return "";
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "× 10⁻" : "× 10";
  for (const char digit : std::to_string(std::abs(exponent))) text += kDigits[digit - '0'];
  return text;
}

// A text in UTF-8 without some of its last characters, with "…" in their place.
std::string shortened(std::string text) {
  const auto drop_character = [&] {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) {
      text.pop_back();
    }
    if (!text.empty()) text.pop_back();
  };
  for (int i = 0; i < 4; ++i) drop_character();
  return text + "…";
}

void draw_frame(const Font& font, const Camera& camera, const Point& lower, const Point& upper,
                Image& image) {
  for (const int axis : {0, 1}) {
    for (const int corner : {0, 2 - axis}) draw_edge(camera, lower, upper, corner, axis, image);
  }
  const ScreenPoint origin = camera.project(lower);
  const ScreenPoint end = camera.project(upper);
  for (const int axis : {0, 1}) {
    const double length = axis == 0 ? end.x - origin.x : origin.y - end.y;
    // The length is not a number where the box is too large to be projected.
    const double ticks = length > 160.0 ? std::min(length / 80.0, 10.0) : 2.0;
    const ValueScale scale(lower[axis], upper[axis], static_cast<int>(ticks));
    for (const double tick : scale.ticks()) {
      Point x = lower;
      x[axis] = tick;
      const ScreenPoint at = camera.project(x);
      if (axis == 0) {
        image.line(at.x, at.y + 2.0, at.x, at.y + 8.0, 1.2, kFaint);
        font.write(image, scale.text(tick), at.x, at.y + 26.0, kSmall, kText, TextAlign::center);
      } else {
        image.line(at.x - 8.0, at.y, at.x - 2.0, at.y, 1.2, kFaint);
        font.write(image, scale.text(tick), at.x - 13.0, at.y + kHalfHeight * kSmall, kSmall, kText,
                   TextAlign::right);
      }
    }
    const std::string factor = exponent_text(scale.exponent());
    const std::string name = axis_name(camera, axis) + (factor.empty() ? "" : ", " + factor);
    if (axis == 0) {
      font.write(image, name, 0.5 * (origin.x + end.x), origin.y + 50.0, kSmall, kText,
                 TextAlign::center);
    } else {
      font.write(image, name, origin.x - 13.0, end.y - 16.0, kSmall, kText);
    }
  }
}

}  // namespace

Rectangle plot_area(const Image& image, int dimension) {
  const double bottom = image.height() - 85.0;
  if (dimension == 2) return {110.0, 150.0, image.width() - 190.0, bottom - 50.0};
  return {100.0, 115.0, image.width() - 210.0, bottom - 30.0};
}

void draw_back_edges(const Camera& camera, const Point& lower, const Point& upper, Image& image) {
  for_each_edge(Edges::behind, [&](int corner, int axis) {
    draw_edge(camera, lower, upper, corner, axis, image);
  });
}

void draw_axes(const Font& font, const Camera& camera, int dimension, const Point& lower,
               const Point& upper, Image& image) {
  if (dimension == 2) {
    draw_frame(font, camera, lower, upper, image);
    return;
  }
  for_each_edge(Edges::in_front, [&](int corner, int axis) {
    draw_edge(camera, lower, upper, corner, axis, image);
  });
  for (int axis = 0; axis < 3; ++axis) label_edge(font, camera, lower, upper, axis, image);
}

std::string axes_text(const Camera& camera, const Point& lower, const Point& upper) {
  std::string text;
  for (int axis = 0; axis < 3; ++axis) {
    const bool is_stretched = camera.stretch()[axis] != 1.0;
    if (!is_stretched && edge_length(camera, lower, upper, axis) >= kShortEdge) continue;
    const auto [from, to] = ends_of(lower, upper, axis);
    text += fmt::format("{}{} from {} to {}", text.empty() ? "" : ", ", kAxisNames[axis], from, to);
    if (is_stretched) text += fmt::format(" stretched {:.3g} times", camera.stretch()[axis]);
  }
  return text;
}

void draw_color_bar(const Font& font, const ValueScale& scale, Image& image) {
  const int left = image.width() - 150;
  const int right = left + 28;
  const int top = 160;
  const int bottom = image.height() - 160;
  font.write(image, "u", left, top - 16.0, kLarge * 0.8, kText);
  const double text_left = right + 12.0;
  const double middle = 0.5 * (top + bottom);
  if (scale.is_empty()) {
    font.write(image, "no finite", left, middle, kSmall, kWarning);
    font.write(image, "values", left, middle + 24.0, kSmall, kWarning);
    return;
  }
  for (int y = top; y < bottom; ++y) {
    const double t = scale.is_constant() ? 0.5 : (bottom - 0.5 - y) / (bottom - top);
    for (int x = left; x < right; ++x) image.blend(x, y, viridis(t), 1.0F);
  }
  const auto label = [&](double y, const std::string& text) {
    image.line(right + 1.0, y, right + 7.0, y, 1.2, kFaint);
    font.write(image, text, text_left, y + kHalfHeight * kSmall, kSmall, kText);
  };
  if (scale.is_constant()) {
    label(middle, fmt::format("{:.6g}", scale.low()));
    return;
  }
  const std::string factor = exponent_text(scale.exponent());
  font.write(image, factor, left + 24.0, top - 16.0, kSmall, kText);
  for (const double tick : scale.ticks()) {
    label(bottom - scale.fraction(tick) * (bottom - top), scale.text(tick));
  }
}

void draw_captions(const Font& font, const Captions& captions, Image& image) {
  const double room = image.width() - 2.0 * kMargin;
  const auto write = [&](const std::string& text, double baseline, double size,
                         const Color& color) {
    // What is too long gets smaller, and then is cut.
    const double width = font.width(text, size);
    const double fitting = std::max(0.6 * size, std::min(size, size * room / std::max(width, 1.0)));
    std::string shown = text;
    while (shown.size() > 1 && font.width(shown, fitting) > room) {
      shown = shortened(shown);
    }
    font.write(image, shown, kMargin, baseline, fitting, color);
  };
  double baseline = 50.0;
  if (!captions.title.empty()) write(captions.title, baseline, kLarge, kText);
  for (const std::string& warning : captions.warnings) {
    baseline += 28.0;
    write(warning, baseline, 20.0, kWarning);
  }
  baseline = image.height() - 24.0 - 26.0 * (static_cast<double>(captions.lines.size()) - 1.0);
  for (const std::string& line : captions.lines) {
    write(line, baseline, kSmall, kFaint);
    baseline += 26.0;
  }
}

}  // namespace tessera
