// A Plot says what a picture shows: series of points on two axes, or bars; not how it is drawn.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::report {

enum class Scale { linear, logarithmic, counts };

struct Axis {
  std::string label = {};  ///< with its unit
  /// `counts`: linear, with a mark at each whole number.
  Scale scale = Scale::linear;
  /// What has to be visible beside the points: of a plot whose neighbor shows more, say.
  std::optional<std::pair<double, double>> at_least = {};
};

struct PlotPoint {
  double x = 0.0;
  double y = 0.0;
};

enum class Marks { points, none };

/// One line of a plot and its name, which is drawn beside its last point.
struct Series {
  std::string name = {};
  std::vector<PlotPoint> points = {};
  int color = 0;  ///< of the palette, counted from 0; more begin again
  int dash = 0;   ///< 0: solid
  Marks marks = Marks::points;
};

struct Bar {
  std::string name = {};
  double value = 0.0;
  std::string text = {};  ///< drawn at its end
  int color = 0;
};

/// Lines if it has series, else horizontal bars, whose axis is x.
struct Plot {
  std::string title = {};
  Axis x = {};
  Axis y = {};
  std::vector<Series> series = {};
  std::vector<Bar> bars = {};
};

/// Every n-th point of a long line, and the last.
std::vector<PlotPoint> thinned(const std::vector<PlotPoint>& points, std::size_t max);

/// The same range of both axes for all.
void share_axes(std::vector<Plot>& plots);

/// The range of the values of all points along an axis, and what has to be visible; what a
/// logarithmic axis cannot show is left out. Absent where nothing is left.
std::optional<std::pair<double, double>> x_range(const Plot& plot);
std::optional<std::pair<double, double>> y_range(const Plot& plot);

}  // namespace tessera::report
