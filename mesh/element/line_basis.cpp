// This file multiplies differences from the left and from the right of each node.
#include "mesh/element/line_basis.hpp"

#include <algorithm>
#include <stdexcept>

namespace tessera {

LineBasis::LineBasis(std::span<const double> nodes)
    : nodes_(nodes.begin(), nodes.end()), scales_(nodes.size(), 1.0) {
  if (size() > kMaxPointsPerAxis) throw std::invalid_argument("too many nodes along an axis");
  for (int i = 0; i < size(); ++i) {
    for (int j = 0; j < size(); ++j) {
      if (j != i) scales_[i] /= nodes_[i] - nodes_[j];
    }
  }
}

LineBasis::Support LineBasis::values(double t, LineValues& values) const {
  const int n = size();
  double left = 1.0;
  for (int i = 0; i < n; ++i) {
    if (t == nodes_[i]) {
      std::fill_n(values.begin(), n, 0.0);
      values[i] = 1.0;
      return {i, i};
    }
    values[i] = scales_[i] * left;
    left *= t - nodes_[i];
  }
  double right = 1.0;
  for (int i = n; i-- > 0;) {
    values[i] *= right;
    right *= t - nodes_[i];
  }
  return {0, n - 1};
}

void LineBasis::values(double t, LineValues& values, LineValues& slopes) const {
  const int n = size();
  double left = 1.0;
  double left_slope = 0.0;
  for (int i = 0; i < n; ++i) {
    values[i] = left;
    slopes[i] = left_slope;
    left_slope = left_slope * (t - nodes_[i]) + left;
    left *= t - nodes_[i];
  }
  double right = 1.0;
  double right_slope = 0.0;
  for (int i = n; i-- > 0;) {
    slopes[i] = scales_[i] * (slopes[i] * right + values[i] * right_slope);
    values[i] *= scales_[i] * right;
    right_slope = right_slope * (t - nodes_[i]) + right;
    right *= t - nodes_[i];
  }
}

}  // namespace tessera
