// A Frame places the coordinates of a discretization in physical space.
#pragma once

#include "mesh/index.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// Where a discretization's own coordinates X lie in physical space: x = origin + length X.
///
/// The length is a power of 4, so that neither products and quotients nor square roots round
/// differently in another frame.
struct Frame {
  Point origin{};
  double length = 1.0;

  /// Whether X = x.
  bool is_physical() const { return length == 1.0 && origin == Point{}; }
  Point physical(const Point& X) const {
    return {origin[0] + length * X[0], origin[1] + length * X[1], origin[2] + length * X[2]};
  }
  /// The physical volume of a unit volume of X: length to the power of the dimension.
  double volume(int dimension) const {
    return dimension == 2 ? length * length : length * length * length;
  }
};

/// F(X, U) = field(x, unit_of_u U) / unit. If the field has factors, they are taken to the frame as
/// well, and the first one is divided by the unit.
/// @param unit, unit_of_u powers of 2
ScalarField in_frame(const ScalarField& field, const Frame& frame, double unit = 1.0,
                     double unit_of_u = 1.0);

}  // namespace tessera
