#include "mesh/errors.hpp"

#include <fmt/format.h>

namespace tessera {

BadFieldValue::BadFieldValue(const std::string& message, const Point& where, double value)
    : std::runtime_error(fmt::format("{} at ({:.6g}, {:.6g}, {:.6g}): {}", message, where[0],
                                     where[1], where[2], value)),
      where_(where),
      value_(value) {}

BadFieldValue::BadFieldValue(const WholeText& whole, const Point& where, double value)
    : std::runtime_error(whole.text), where_(where), value_(value) {}

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

}  // namespace tessera
