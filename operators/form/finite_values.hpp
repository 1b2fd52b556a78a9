// This function refuses values of fields that are not finite.
#pragma once

#include <cmath>
#include <span>
#include <string>

#include "mesh/errors.hpp"
#include "mesh/geometry/frame.hpp"

namespace tessera {

/// @param points in the frame, of which the values are
/// @throws BadFieldValue "WHAT is not finite" with the physical place of the first that is not
inline void require_finite(const char* what, const PointBlock& points,
                           std::span<const double> values, const Frame& frame) {
  for (std::size_t i = 0; i < points.n; ++i) {
    if (std::isfinite(values[i])) continue;
    throw BadFieldValue(std::string(what) + " is not finite",
                        frame.physical({points.x[i], points.y[i], points.z[i]}), values[i]);
  }
}

}  // namespace tessera
