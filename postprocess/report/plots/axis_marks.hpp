// Marks are where an axis has numbers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "postprocess/report/plots/plot.hpp"

namespace tessera::report {

struct Mark {
  double value = 0.0;
  std::string text = {};
};

/// The range that an axis shows and its marks: at least two, and few enough to be read.
struct AxisMarks {
  double low = 0.0;
  double high = 1.0;
  std::vector<Mark> marks = {};
};

/// @param range of the values, whose first is positive on a logarithmic axis
AxisMarks axis_marks(Scale scale, std::pair<double, double> range);

}  // namespace tessera::report
