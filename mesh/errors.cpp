// This file words the messages of the errors of meshes, maps and fields.
#include "mesh/errors.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tessera {

BadFieldValue::BadFieldValue(const std::string& message, const Point& where, double value)
    : std::runtime_error(fmt::format("{} at ({:.6g}, {:.6g}, {:.6g}): {}", message, where[0],
                                     where[1], where[2], value)),
      where_(where),
      value_(value) {}

BadFieldValue::BadFieldValue(const WholeText& whole, const Point& where, double value)
    : std::runtime_error(whole.text), where_(where), value_(value), key_(whole.key) {}

InvertedCell::InvertedCell(const IndexTriple& cell, int dimension, double determinant,
                           const Point& where)
    : std::runtime_error(
          dimension == 2
              ? fmt::format("cell ({}, {}) has Jacobian determinant {:.4g} at the quadrature point "
                            "that maps to ({:.6g}, {:.6g}); it must be positive",
                            cell[0], cell[1], determinant, where[0], where[1])
              : fmt::format("cell ({}, {}, {}) has Jacobian determinant {:.4g} at the quadrature "
                            "point that maps to ({:.6g}, {:.6g}, {:.6g}); it must be positive",
                            cell[0], cell[1], cell[2], determinant, where[0], where[1], where[2])),
      cell_(cell) {}

LostDigits::LostDigits(const IndexTriple& cell, int dimension, double edge, double least,
                       double largest)
    : std::runtime_error(fmt::format("cell {} has an edge of {:.3g} where coordinates are up to "
                                     "{:.3g}: {}; at least {:.3g} is "
                                     "allowed, or the map be moved nearer to 0",
                                     dimension == 2
                                         ? fmt::format("({}, {})", cell[0], cell[1])
                                         : fmt::format("({}, {}, {})", cell[0], cell[1], cell[2]),
                                     edge, largest, digits_left(edge, largest), least)) {}

std::string digits_left(double difference, double largest) {
  const double ulps = difference / (std::numeric_limits<double>::epsilon() * largest);
  const int digits = ulps > 1.0 ? static_cast<int>(std::log10(ulps)) : 0;
  return fmt::format("{} digit{} of it {} left in double precision", digits, digits == 1 ? "" : "s",
                     digits == 1 ? "is" : "are");
}

}  // namespace tessera
