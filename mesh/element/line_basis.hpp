// A LineBasis evaluates the Lagrange polynomials of a line at any point.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "mesh/element/basis_1d.hpp"

namespace tessera {

/// A number for each node along an axis of a cell.
using LineValues = std::array<double, kMaxPointsPerAxis>;

/// The polynomials l_i(t) = prod_{j != i} (t - t_j) / (t_i - t_j) of the nodes t_i, and their
/// derivatives, at one point at a time: O(p) operations and no memory of its own a call.
class LineBasis {
 public:
  /// @param nodes at most kMaxPointsPerAxis different numbers
  explicit LineBasis(std::span<const double> nodes);

  int size() const { return static_cast<int>(nodes_.size()); }
  const std::vector<double>& nodes() const { return nodes_; }

  /// Which polynomials are not 0 at a point: [first, last].
  struct Support {
    int first = 0;
    int last = 0;
  };
  /// values[i] = l_i(t). At a node its own alone is not 0.
  Support values(double t, LineValues& values) const;
  /// The same with slopes[i] = l_i'(t).
  void values(double t, LineValues& values, LineValues& slopes) const;

 private:
  std::vector<double> nodes_;
  std::vector<double> scales_;  // 1 / prod_{j != i} (t_i - t_j)
};

}  // namespace tessera
