#pragma once

#include <stdexcept>
#include <string>

#include "mesh/index.hpp"

namespace tessera {

/// A field or map whose value at a point is not usable (not finite, not positive).
class BadFieldValue : public std::runtime_error {
 public:
  BadFieldValue(const std::string& message, const Point& where, double value);

  /// Physical position, or box position for a map.
  const Point& where() const { return where_; }
  double value() const { return value_; }

 protected:
  /// With a text that says all of it, for those who know more of the field.
  struct WholeText {
    std::string text;
  };
  BadFieldValue(const WholeText& whole, const Point& where, double value);

 private:
  Point where_;
  double value_;
};

/// A cell whose map folds over: the Jacobian determinant is not positive at a quadrature point.
class InvertedCell : public std::runtime_error {
 public:
  InvertedCell(const IndexTriple& cell, int dimension, double determinant, const Point& where);

  const IndexTriple& cell() const { return cell_; }

 private:
  IndexTriple cell_;
};

}  // namespace tessera
