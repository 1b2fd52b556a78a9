// This file finds the ranges of axes.
#include "postprocess/report/plots/plot.hpp"

#include <algorithm>

namespace tessera::report {
namespace {

using Range = std::optional<std::pair<double, double>>;

void include(Range& range, double value, Scale scale) {
  if (scale == Scale::logarithmic && !(value > 0.0)) return;
  if (!range) range = {value, value};
  range->first = std::min(range->first, value);
  range->second = std::max(range->second, value);
}

void include(Range& range, const Range& other, Scale scale) {
  if (!other) return;
  include(range, other->first, scale);
  include(range, other->second, scale);
}

template <class Value>
Range range_of(const Plot& plot, const Axis& axis, Value value) {
  Range range;
  for (const Series& series : plot.series) {
    for (const PlotPoint& point : series.points) include(range, value(point), axis.scale);
  }
  include(range, axis.at_least, axis.scale);
  return range;
}

}  // namespace

Range x_range(const Plot& plot) {
  Range range = range_of(plot, plot.x, [](const PlotPoint& point) { return point.x; });
  for (const Bar& bar : plot.bars) {
    include(range, 0.0, plot.x.scale);
    include(range, bar.value, plot.x.scale);
  }
  return range;
}

Range y_range(const Plot& plot) {
  return range_of(plot, plot.y, [](const PlotPoint& point) { return point.y; });
}

std::vector<PlotPoint> thinned(const std::vector<PlotPoint>& points, std::size_t max) {
  if (points.size() <= max) return points;
  std::vector<PlotPoint> kept;
  const std::size_t step = (points.size() + max - 1) / max;
  for (std::size_t i = 0; i < points.size(); i += step) kept.push_back(points[i]);
  if (kept.back().x != points.back().x) kept.push_back(points.back());
  return kept;
}

void share_axes(std::vector<Plot>& plots) {
  if (plots.empty()) return;
  Range x;
  Range y;
  for (const Plot& plot : plots) {
    include(x, x_range(plot), plot.x.scale);
    include(y, y_range(plot), plot.y.scale);
  }
  for (Plot& plot : plots) {
    plot.x.at_least = x;
    plot.y.at_least = y;
  }
}

}  // namespace tessera::report
