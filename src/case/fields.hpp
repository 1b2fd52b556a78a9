// These fields are expressions of a case whose values are checked.
#pragma once

#include <string>

#include "cases/problem/time_field.hpp"
#include "mesh/errors.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// What the values of an expression must be for the problem to make sense.
enum class Requirement { finite, positive, non_negative };

/// An expression of a case that has a value at some point which its key does not allow.
class BadExpressionValue : public BadFieldValue {
 public:
  BadExpressionValue(const std::string& key, const std::string& text, double value,
                     const Point& where)
      : BadFieldValue(WholeText{text, key}, where, value) {}
};

/// The field of a checked expression; evaluating it throws BadExpressionValue, which names the key
/// and, but for a constant, the point, where a value does not meet the requirement, and Interrupted
/// if work is to stop.
/// @throws ExpressionError if the text is not an expression in the variables of this dimension;
///         BadExpressionValue if a constant does not meet the requirement.
ScalarField make_case_field(const std::string& key, const std::string& text, int dimension,
                            Requirement requirement);

/// A checked expression that may depend on time and on u: at each time the field is as of
/// make_case_field(), but its errors name the time and u as well.
class CaseTimeField {
 public:
  /// @throws ExpressionError
  CaseTimeField(std::string key, const std::string& text, int dimension, Requirement requirement,
                Variables variables = Variables::position_and_time);

  bool depends_on_time() const { return field_.depends_on_time(); }
  bool depends_on_u() const { return field_.depends_on_u(); }

  /// @throws BadExpressionValue if a constant does not meet the requirement.
  ScalarField at(double t) const;

  /// The derivative in t, which must be finite; see TimeField.
  /// @throws BadExpressionValue if a constant is not finite.
  ScalarField rate_at(double t) const;

 private:
  std::string key_;
  int dimension_;
  Requirement requirement_;
  TimeField field_;
};

}  // namespace tessera
