// These tests look at pixels of pictures of known functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>
#include <zlib.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "mesh/geometry/natural_frame.hpp"
#include "operators/load/interpolation.hpp"
#include "postprocess/picture/animation.hpp"
#include "postprocess/picture/canvas/annotation.hpp"
#include "postprocess/picture/canvas/viridis.hpp"
#include "postprocess/picture/extrema.hpp"
#include "postprocess/picture/solution_picture.hpp"
#include "postprocess/picture/surface.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::pair<double, double> kUnknown = {kNan, kNan};
using Function = std::function<double(const Point&)>;
using Map = std::function<Point(const Point&)>;

Discretization make_mesh(const BoxMesh& mesh, int degree, const Map& map = {}) {
  const Basis1D basis =
      make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, degree + 1);
  const NodeLattice lattice(mesh, degree);
  Mapping mapping(mesh, lattice, basis.nodes);
  if (map) {
    std::array<HostArray<double>, 3> coordinates;
    for (int d = 0; d < mesh.dimension(); ++d) {
      coordinates[d].resize(static_cast<std::size_t>(lattice.size()));
    }
    for (Index i = 0; i < lattice.size(); ++i) {
      Point x;
      mapping.node_positions(i, 1, x.data(), &x[1], &x[2]);
      x = map(x);
      for (int d = 0; d < mesh.dimension(); ++d) coordinates[d][static_cast<std::size_t>(i)] = x[d];
    }
    mapping = Mapping(mesh, lattice, basis.nodes, std::move(coordinates));
  }
  return {mesh, basis, lattice, std::move(mapping)};
}

BoxMesh unit_box(int dimension, Index cells) {
  return {dimension, {cells, cells, cells}, {0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}};
}

std::vector<double> at_nodes(const Discretization& discretization, const Function& function) {
  std::vector<double> values(static_cast<std::size_t>(discretization.lattice.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Point x;
    discretization.mapping.node_positions(static_cast<Index>(i), 1, x.data(), &x[1], &x[2]);
    values[i] = function(x);
  }
  return values;
}

/// A PNG file's pixels.
class Pixels {
 public:
  explicit Pixels(const std::string& png) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_memory(&image, png.data(), png.size()), 0);
    image.format = PNG_FORMAT_RGB;
    width = static_cast<int>(image.width);
    height = static_cast<int>(image.height);
    bytes_.resize(PNG_IMAGE_SIZE(image));
    EXPECT_NE(png_image_finish_read(&image, nullptr, bytes_.data(), 0, nullptr), 0);
  }
  Color at(double x, double y) const {
    const std::size_t first = (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                               static_cast<std::size_t>(x)) *
                              3;
    return {static_cast<float>(bytes_[first]) / 255.0F,
            static_cast<float>(bytes_[first + 1]) / 255.0F,
            static_cast<float>(bytes_[first + 2]) / 255.0F};
  }
  Color at(const ScreenPoint& point) const { return at(point.x, point.y); }

  int width = 0;
  int height = 0;

 private:
  std::vector<unsigned char> bytes_;
};

double difference(const Color& a, const Color& b) {
  return std::max(
      {std::abs(a.red - b.red), std::abs(a.green - b.green), std::abs(a.blue - b.blue)});
}

bool is_white(const Color& color) { return difference(color, {1.0F, 1.0F, 1.0F}) < 0.01; }

SolutionPicture draw_solution(const Discretization& discretization,
                              const std::vector<double>& values, std::pair<double, double> range,
                              const PictureText& text) {
  SolutionPainter painter(discretization);
  const SampledSolution sampled = painter.sample(values, range, text);
  return painter.draw(sampled, sampled.range);
}

Pixels draw(const Discretization& discretization, const std::vector<double>& values) {
  return Pixels(draw_solution(discretization, values, kUnknown, {"", "", ""}).png);
}

/// The camera of a picture of these bounds.
Camera camera_of(int dimension, const Point& lower, const Point& upper) {
  return {dimension, lower, upper, plot_area(Image(1200, 900), dimension)};
}

TEST(Viridis, GetsBrighterAllTheWay) {
  const auto brightness = [](double t) {
    const Color color = viridis(t);
    return 0.299 * color.red + 0.587 * color.green + 0.114 * color.blue;
  };
  for (int i = 0; i < 100; ++i) EXPECT_LT(brightness(0.01 * i), brightness(0.01 * (i + 1))) << i;
  EXPECT_LT(difference(viridis(0.0), {0.267F, 0.005F, 0.329F}), 0.012);
  EXPECT_LT(difference(viridis(0.5), {0.128F, 0.567F, 0.551F}), 0.012);
  EXPECT_LT(difference(viridis(1.0), {0.993F, 0.906F, 0.144F}), 0.013);
  EXPECT_EQ(difference(viridis(kNan), {0.6F, 0.6F, 0.6F}), 0.0);
}

// A polynomial of degree p is drawn as it is, between the nodes, too.
TEST(SolutionPicture, ColorsAreThoseOfTheFunctionWithinCells) {
  for (int degree = 1; degree <= 8; ++degree) {
    const auto f = [degree](const Point& x) { return std::pow(x[0], degree) * x[1]; };
    const Discretization mesh = make_mesh(unit_box(2, 1), degree);
    const Pixels pixels = draw(mesh, at_nodes(mesh, f));
    const Camera camera = camera_of(2, {0.0, 0.0, 0.0}, {1.0, 1.0, 0.0});
    // Not on a line of equal values, multiples of 0.1.
    for (const double x : {0.31, 0.62, 0.93}) {
      for (const double value : {0.05, 0.25}) {
        const double y = value / std::pow(x, degree);
        if (y > 0.98) continue;
        EXPECT_LT(difference(pixels.at(camera.project({x, y, 0.0})), viridis(value)), 0.025)
            << degree << " " << x << " " << y;
      }
    }
    // And on one.
    const double y = 0.5 / std::pow(0.95, degree);
    if (y > 0.98) continue;
    EXPECT_GT(difference(pixels.at(camera.project({0.95, y, 0.0})), viridis(0.5)), 0.1) << degree;
  }
}

// The middle of cells of the plane y = 1/2, which shows function and place alike.
TEST(SolutionPicture, TheCutIsWhereItShouldBe) {
  const auto f = [](const Point& x) { return x[0] + 0.5 * x[1] * x[1] + 0.25 * x[2]; };
  const Map bent = [](const Point& x) {
    return Point{x[0] + 0.1 * std::sin(3.0 * x[1]), x[1] + 0.15 * std::sin(3.0 * x[0]) * x[2],
                 x[2]};
  };
  for (const bool is_mapped : {false, true}) {
    for (const Index cells : {1, 3, 20}) {
      const Discretization mesh = make_mesh(unit_box(3, cells), 4, is_mapped ? bent : Map());
      const std::vector<double> values = at_nodes(mesh, f);
      const Pixels pixels = draw(mesh, values);
      const SampledMap map(mesh, LineBasis(mesh.basis.nodes), 64);
      const Camera camera = camera_of(3, map.lower(), map.upper());
      const double y = 0.5 * (map.lower()[1] + map.upper()[1]);
      const auto [low, high] = std::minmax_element(values.begin(), values.end());
      int alike = 0;
      for (int i = 0; i < 10; ++i) {
        for (int k = 0; k < 10; ++k) {
          const Point x = {0.32 + 0.05 * i, y, 0.12 + 0.08 * k};
          const Color color = viridis((f(x) - *low) / (*high - *low));
          if (difference(pixels.at(camera.project(x)), color) < 0.03) ++alike;
        }
      }
      // The others are on edges, of cells or of the outline.
      EXPECT_GT(alike, cells < 10 ? 90 : 70) << is_mapped << " " << cells;
    }
  }
}

// A quarter of a ring: what is within the radii is colored, what is not is white.
TEST(SolutionPicture, CurvedCellsHaveCurvedOutlines) {
  constexpr double kQuarter = std::numbers::pi / 2.0;
  const Map ring = [](const Point& x) {
    return Point{(1.0 + x[0]) * std::cos(kQuarter * x[1]), (1.0 + x[0]) * std::sin(kQuarter * x[1]),
                 0.0};
  };
  const Discretization mesh = make_mesh(unit_box(2, 2), 5, ring);
  const Pixels pixels = draw(mesh, at_nodes(mesh, [](const Point& x) { return x[0]; }));
  const Camera camera = camera_of(2, {0.0, 0.0, 0.0}, {2.0, 2.0, 0.0});
  // Not where the frame touches it.
  for (int i = 8; i <= 32; ++i) {
    const double angle = kQuarter * (0.02 + 0.024 * i);
    const auto seen_at = [&](double radius) {
      return pixels.at(camera.project({radius * std::cos(angle), radius * std::sin(angle), 0.0}));
    };
    EXPECT_TRUE(is_white(seen_at(0.99))) << i;
    EXPECT_FALSE(is_white(seen_at(1.01))) << i;
    EXPECT_FALSE(is_white(seen_at(1.99))) << i;
    EXPECT_TRUE(is_white(seen_at(2.01))) << i;
  }
}

// No background between triangles, nor where faces and cut meet.
TEST(SolutionPicture, SurfacesHaveNoCracks) {
  const Map twisted = [](const Point& x) {
    const double c = std::cos(0.8 * x[2]);
    const double s = std::sin(0.8 * x[2]);
    return Point{c * (x[0] - 0.5) - s * (x[1] - 0.5), s * (x[0] - 0.5) + c * (x[1] - 0.5), x[2]};
  };
  for (const bool is_mapped : {false, true}) {
    const Discretization mesh = make_mesh(unit_box(3, 3), 3, is_mapped ? twisted : Map());
    const Pixels pixels = draw(mesh, at_nodes(mesh, [](const Point& x) { return x[0]; }));
    // A white pixel all of whose neighbors are colored is a crack.
    int cracks = 0;
    for (int y = 110; y < 780; ++y) {
      for (int x = 110; x < 980; ++x) {
        if (!is_white(pixels.at(x, y))) continue;
        if (!is_white(pixels.at(x - 1, y)) && !is_white(pixels.at(x + 1, y)) &&
            !is_white(pixels.at(x, y - 1)) && !is_white(pixels.at(x, y + 1))) {
          ++cracks;
        }
      }
    }
    EXPECT_LE(cracks, 1) << is_mapped;  // what a text or the outline encloses
  }
}

TEST(SolutionPicture, HasSomethingToShowForEveryMesh) {
  const auto f = [](const Point& x) { return x[0] - 2.0 * x[1] + x[2]; };
  const Map same = [](const Point& x) { return x; };
  const std::vector<BoxMesh> meshes = {unit_box(2, 1),
                                       unit_box(3, 1),
                                       {2, {200, 1, 1}, {0.0, 0.0, 0.0}, {1.0, 1e-3, 0.0}},
                                       {2, {1, 3, 1}, {0.0, 0.0, 0.0}, {1e-9, 1.0, 0.0}},
                                       {3, {20, 1, 2}, {-1e6, 0.0, 0.0}, {1e6, 1.0, 1e3}},
                                       {3, {2, 2, 2}, {1e-12, 0.0, 0.0}, {2e-12, 1e-12, 1e-12}},
                                       {3, {2, 3, 1}, {0.0, 0.0, 0.0}, {1.0, 1.0, 1e-6}}};
  for (std::size_t i = 0; i < meshes.size(); ++i) {
    for (const bool is_mapped : {false, true}) {
      const Discretization mesh = make_mesh(meshes[i], 2, is_mapped ? same : Map());
      const Pixels pixels = draw(mesh, at_nodes(mesh, f));
      int colored = 0;
      for (int y = 110; y < 780; ++y) {
        for (int x = 110; x < 980; ++x) {
          const Color color = pixels.at(x, y);
          colored += std::abs(color.red - color.blue) > 0.05F ? 1 : 0;
        }
      }
      EXPECT_GT(colored, 5000) << i << " " << is_mapped;
    }
  }
}

TEST(SolutionPicture, OddValuesAreDrawn) {
  const Discretization mesh = make_mesh(unit_box(2, 4), 3);
  const Camera camera = camera_of(2, {0.0, 0.0, 0.0}, {1.0, 1.0, 0.0});
  const auto middle = [&](const Function& f) {
    return draw(mesh, at_nodes(mesh, f)).at(camera.project({0.6, 0.6, 0.0}));
  };
  constexpr Color kGrey = {0.6F, 0.6F, 0.6F};
  EXPECT_LT(difference(middle([](const Point&) { return 7.0; }), viridis(0.5)), 0.01);
  EXPECT_LT(difference(middle([](const Point&) { return 0.0; }), viridis(0.5)), 0.01);
  EXPECT_LT(difference(middle([](const Point&) { return kNan; }), kGrey), 0.01);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_LT(difference(middle([&](const Point&) { return infinity; }), kGrey), 0.01);
  const auto half_nan = [](const Point& x) { return x[0] > 0.5 ? kNan : x[0]; };
  EXPECT_LT(difference(middle(half_nan), kGrey), 0.01);
  // Differences that overflow, and such that are denormal.
  const auto huge = [](const Point& x) { return x[0] > 0.5 ? 1.7e308 : -1.7e308; };
  EXPECT_FALSE(is_white(middle(huge)));
  const auto tiny = [](const Point& x) { return 1e-310 * x[0]; };
  EXPECT_FALSE(is_white(middle(tiny)));
  const auto far = [](const Point& x) { return 1e9 + 1e-3 * x[0]; };
  EXPECT_FALSE(is_white(middle(far)));
}

// Extents whose squares overflow, and such that are lost beside the position.
TEST(SolutionPicture, OddBoxesDoNoHarm) {
  const auto f = [](const Point& x) { return x[0]; };
  const Map bent = [](const Point& x) { return Point{x[0], x[1] + 1e-20 * x[0], x[2]}; };
  for (const int dimension : {2, 3}) {
    for (const auto& [low, high] :
         {std::pair{-1e200, 1e200}, {-1.7e308, 1.7e308}, {0.0, 1e-200}, {1e9, 1e9 + 1e-6}}) {
      const BoxMesh box(dimension, {2, 2, 2}, {low, low, low}, {high, high, high});
      for (const bool is_mapped : {false, true}) {
        const Discretization mesh = make_mesh(box, 2, is_mapped ? bent : Map());
        EXPECT_EQ(draw(mesh, at_nodes(mesh, f)).width, 1200);
      }
    }
  }
}

TEST(SolutionPicture, AKnownRangeIsNotLookedFor) {
  const Discretization mesh = make_mesh(unit_box(2, 2), 2);
  const std::vector<double> values = at_nodes(mesh, [](const Point& x) { return x[0]; });
  const SolutionPicture picture =
      draw_solution(mesh, values, {0.0, 1.0}, {std::string(500, 'W') + "\xC3\xA9\xFF", "x", "y"});
  EXPECT_EQ(picture.complaint, "");
  EXPECT_EQ(Pixels(picture.png).width, 1200);
  EXPECT_EQ(Pixels(picture.png).height, 900);
}

// Colors of several times are to mean the same.
TEST(SolutionPicture, ColorsCanHaveAnotherRangeThanTheValues) {
  const Discretization mesh = make_mesh(unit_box(2, 1), 2);
  const Camera camera = camera_of(2, {0.0, 0.0, 0.0}, {1.0, 1.0, 0.0});
  SolutionPainter painter(mesh);
  const auto sample = [&](const Function& f) {
    return painter.sample(at_nodes(mesh, f), kUnknown, {"", "", ""});
  };
  const SampledSolution steep = sample([](const Point& x) { return x[0] * x[0]; });
  const SampledSolution even = sample([](const Point&) { return 0.43; });
  const SampledSolution unknown = sample([](const Point&) { return kNan; });
  EXPECT_EQ(steep.range, (std::pair{0.0, 1.0}));
  // Not on a line of equal values.
  const ScreenPoint at = camera.project({0.7, 0.31, 0.0});
  const auto color = [&](const SampledSolution& sampled, std::pair<double, double> range) {
    return Pixels(painter.draw(sampled, range).png).at(at);
  };
  EXPECT_LT(difference(color(steep, {-1.0, 2.0}), viridis(1.49 / 3.0)), 0.02);
  EXPECT_LT(difference(color(even, {-1.0, 2.0}), viridis(1.43 / 3.0)), 0.02);
  EXPECT_LT(difference(color(unknown, {-1.0, 2.0}), {0.6F, 0.6F, 0.6F}), 0.01);
  EXPECT_LT(difference(color(steep, steep.range), viridis(0.49)), 0.02);
}

// Meshes in a frame of their own are drawn where they are.
TEST(SolutionPicture, IsOfPhysicalSpace) {
  const auto f = [](const Point& x) { return x[0] - x[1]; };
  const Map bent = [](const Point& x) { return Point{x[0], x[1] + 0.2 * x[0] * x[0], x[2]}; };
  for (const int dimension : {2, 3}) {
    for (const bool is_mapped : {false, true}) {
      const Discretization mesh = make_mesh(unit_box(dimension, 2), 2, is_mapped ? bent : Map());
      const std::vector<double> values = at_nodes(mesh, f);
      const Frame frame = {{4.0, -8.0, dimension == 3 ? 16.0 : 0.0}, 0.25};
      const Discretization framed = to_frame(mesh, frame);
      const Pixels expected = draw(mesh, values);
      const Pixels pixels = draw(framed, values);
      int different = 0;
      for (int y = 0; y < expected.height; ++y) {
        for (int x = 0; x < expected.width; ++x) {
          if (difference(pixels.at(x, y), expected.at(x, y)) > 0.1) ++different;
        }
      }
      // By rounding, where edges and lines are.
      EXPECT_LT(different, 100) << dimension << " " << is_mapped;
    }
  }
}

/// The chunks of a PNG file, whose checksums must be right.
std::vector<std::pair<std::string, std::string>> chunks_of(const std::string& png) {
  std::vector<std::pair<std::string, std::string>> chunks;
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
      value = value << 8 | static_cast<unsigned char>(png.at(i));
    }
    return value;
  };
  for (std::size_t at = 8; at < png.size();) {
    const std::size_t size = number(at);
    const std::string summed = png.substr(at + 4, size + 4);
    EXPECT_EQ(number(at + 8 + size),
              crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(size + 4)));
    chunks.emplace_back(summed.substr(0, 4), summed.substr(4));
    at += 12 + size;
  }
  return chunks;
}

TEST(Animation, HasTheFramesOneAfterTheOther) {
  std::vector<AnimationFrame> frames;
  for (int i = 0; i < 3; ++i) {
    Image image(7, 5);
    image.blend(i, 1, {1.0F, 0.0F, 0.0F}, 1.0F);
    frames.push_back({image.to_png(), 0.25 * (i + 1)});
  }
  const std::string file = animated_png(frames);
  const Pixels first(file);  // by a library that knows no animations
  EXPECT_EQ(first.width, 7);
  EXPECT_EQ(first.height, 5);
  EXPECT_LT(difference(first.at(0, 1), {1.0F, 0.0F, 0.0F}), 0.01);

  std::string names;
  std::string sequence;
  std::string data;
  std::vector<int> delays;
  for (const auto& [name, content] : chunks_of(file)) {
    names += name + " ";
    if (name == "acTL") {
      EXPECT_EQ(content, std::string("\0\0\0\3\0\0\0\0", 8));
    }
    if (name == "fcTL" || name == "fdAT") sequence += content.substr(0, 4);
    if (name == "fdAT") data += content.substr(4);
    if (name != "fcTL") continue;
    EXPECT_EQ(content.substr(4, 16), std::string("\0\0\0\7\0\0\0\5\0\0\0\0\0\0\0\0", 16));
    EXPECT_EQ(content.substr(22), std::string("\x03\xE8\0\0", 4));
    delays.push_back(static_cast<unsigned char>(content.at(20)) * 256 +
                     static_cast<unsigned char>(content.at(21)));
  }
  EXPECT_EQ(names, "IHDR acTL fcTL IDAT fcTL fdAT fcTL fdAT IEND ");
  EXPECT_EQ(sequence, std::string("\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4", 20));
  EXPECT_EQ(delays, (std::vector{250, 500, 750}));
  std::string expected;
  for (const int i : {1, 2}) {
    for (const auto& [name, content] : chunks_of(frames[static_cast<std::size_t>(i)].png)) {
      if (name == "IDAT") expected += content;
    }
  }
  EXPECT_EQ(data, expected);
}

TEST(Animation, CanHaveFewerFrames) {
  std::vector<AnimationFrame> frames;
  for (int i = 0; i < 4; ++i) {
    Image image(7, 5);
    image.blend(i, 1, {1.0F, 0.0F, 0.0F}, 1.0F);
    frames.push_back({image.to_png(), 0.25 * (i + 1)});
  }
  const std::vector<AnimationFrame> read = frames_of(animated_png(frames));
  ASSERT_EQ(read.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_LT(difference(Pixels(read[i].png).at(static_cast<double>(i), 1), {1.0F, 0.0F, 0.0F}),
              0.01);
    EXPECT_EQ(read[i].seconds, frames[i].seconds);
  }
  const std::vector<AnimationFrame> fewer = every_second(read);
  ASSERT_EQ(fewer.size(), 3U);
  EXPECT_EQ(fewer[0].seconds, 0.75);
  EXPECT_EQ(fewer[1].png, read[2].png);
  EXPECT_EQ(fewer[2].png, read[3].png);
  const std::string file = animated_png(frames);
  EXPECT_TRUE(frames_of("x").empty());
  EXPECT_TRUE(frames_of(frames[0].png).empty());
  for (std::size_t size = 0; size < file.size(); ++size) frames_of(file.substr(0, size));
}

TEST(FindExtrema, FindsPlacesAndTies) {
  std::vector<double> values(100'000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(1e-3 * static_cast<double>(i));
  values[77'777] = -3.0;
  values[5] = 2.0;
  values[99'999] = 2.0;
  values[12'345] = kNan;
  values[12'346] = std::numeric_limits<double>::infinity();
  const Extrema extrema = find_extrema(values);
  EXPECT_EQ(extrema.min.value, -3.0);
  EXPECT_EQ(extrema.min.node, 77'777);
  EXPECT_TRUE(extrema.min.is_unique);
  EXPECT_EQ(extrema.max.value, 2.0);
  EXPECT_EQ(extrema.max.node, 5);
  EXPECT_FALSE(extrema.max.is_unique);
  EXPECT_EQ(extrema.not_finite, 2);
  const Extrema none = find_extrema(std::vector<double>(10, kNan));
  EXPECT_GT(none.min.value, none.max.value);
}

TEST(ValueScale, HasRoundNumbers) {
  const ValueScale unit(0.0, 1.0, 10);
  EXPECT_EQ(unit.ticks().size(), 11U);
  EXPECT_EQ(unit.text(unit.ticks()[3]), "0.3");
  const ValueScale odd(-0.013, 2.31, 10);
  EXPECT_EQ(odd.text(odd.ticks().front()), "0.0");
  EXPECT_EQ(odd.text(odd.ticks().back()), "2.0");
  const ValueScale large(0.0, 3.2e7, 8);
  EXPECT_EQ(large.exponent(), 7);
  EXPECT_EQ(large.text(large.ticks().back()), "3.0");
  const ValueScale narrow(1000.0, 1000.001, 5);
  EXPECT_EQ(narrow.text(narrow.ticks()[1]), "1000.0002");
  EXPECT_TRUE(ValueScale(2.0, 2.0 + 1e-13, 5).is_constant());
  EXPECT_TRUE(ValueScale(kNan, 1.0, 5).is_empty());
  EXPECT_TRUE(ValueScale(1.0, 0.0, 5).is_empty());
  EXPECT_EQ(unit.fraction(0.25), 0.25);
  EXPECT_EQ(unit.fraction(7.0), 1.0);
}

// The planes of a map are at the ends of wide cells and, where cells are narrow, fewer than cells.
TEST(SampledMap, HasAsManyPlanesAsAPictureNeeds) {
  const Map bent = [](const Point& x) {
    return Point{x[0], x[1] + 0.1 * x[0] * x[0], x[2] - 0.2 * x[0] * x[1]};
  };
  for (const Index cells : {1, 5, 30, 100}) {
    for (const int degree : {1, 2, 5}) {
      const BoxMesh box(3, {cells, 2, 3}, {0.0, 0.0, 0.0}, {1.0, 1.0, 1.0},
                        {geometric_lines(0.0, 1.0, cells, 1.1), GridLines(), GridLines()});
      const Discretization mesh = make_mesh(box, degree, bent);
      const SampledMap map(mesh, LineBasis(mesh.basis.nodes), 20);
      EXPECT_GE(map.count(0), 14);
      EXPECT_LE(map.count(0), 60);
      EXPECT_EQ(map.planes(0).front(), 0.0);
      EXPECT_EQ(map.planes(0).back(), 1.0);
      if (degree == 1) continue;  // whose map is another one
      for (int k = 0; k < map.count(2); ++k) {
        for (int j = 0; j < map.count(1); ++j) {
          for (int i = 0; i < map.count(0); ++i) {
            const Point x = bent(map.box(i, j, k));
            for (int d = 0; d < 3; ++d) ASSERT_NEAR(map.position(i, j, k)[d], x[d], 1e-9);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::testing
