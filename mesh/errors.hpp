// These are the errors that meshes, maps and fields throw, with the cell or point where they occur.
#pragma once

#include <stdexcept>
#include <string>

#include "mesh/index.hpp"

namespace tessera {

/// A field or map whose value at a point is not usable (not finite, not positive).
class BadFieldValue : public std::runtime_error {
 public:
  BadFieldValue(const std::string& message, const Point& where, double value);
  /// A complete message, for errors that know more of the field, and what its user calls it.
  struct WholeText {
    std::string text;
    std::string key = {};
  };
  BadFieldValue(const WholeText& whole, const Point& where, double value);

  /// The field's name in a case file; empty if it is not known.
  const std::string& key() const { return key_; }
  /// The message, with that name.
  std::string text() const { return key_.empty() ? what() : key_ + " " + what(); }
  /// Physical position, or box position for a map.
  const Point& where() const { return where_; }
  double value() const { return value_; }

 private:
  Point where_;
  double value_;
  std::string key_;
};

/// A cell whose map folds over: the Jacobian determinant is not positive at a quadrature point.
class InvertedCell : public std::runtime_error {
 public:
  InvertedCell(const IndexTriple& cell, int dimension, double determinant, const Point& where);
  /// With a complete message.
  InvertedCell(const IndexTriple& cell, const std::string& text)
      : std::runtime_error(text), cell_(cell) {}

  const IndexTriple& cell() const { return cell_; }

 private:
  IndexTriple cell_;
};

/// Says how many digits are left in the difference of two numbers of size `largest` that are exact
/// to their last digit: "3 digits of it are left in double precision".
std::string digits_left(double difference, double largest);

/// A mesh whose nodes lie so close to each other, and so far from 0, that the digits of their
/// positions do not tell how far apart they are.
class LostDigits : public std::runtime_error {
 public:
  /// @param edge, least the length of the edge of the cell, and the length that it needs
  /// @param largest the largest coordinate of the mesh
  LostDigits(const IndexTriple& cell, int dimension, double edge, double least, double largest);
  /// With a complete message.
  explicit LostDigits(const std::string& text) : std::runtime_error(text) {}
};

}  // namespace tessera
