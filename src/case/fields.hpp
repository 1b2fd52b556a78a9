// These fields are expressions of a case whose values are checked.
#pragma once

#include <string>

#include "mesh/errors.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// What the values of an expression must be for the problem to make sense.
enum class Requirement { finite, positive, non_negative };

/// An expression of a case that has a value at some point which its key does not allow.
class BadExpressionValue : public BadFieldValue {
 public:
  BadExpressionValue(std::string key, Requirement requirement, double value, const Point& where);

  const std::string& key() const { return key_; }

 private:
  std::string key_;
};

/// The field of a checked expression; evaluating it throws BadExpressionValue, which names the key
/// and the point, where a value does not meet the requirement, and Interrupted if work is to stop.
/// @throws ExpressionError if the text is not an expression in the variables of this dimension;
///         BadExpressionValue if a constant does not meet the requirement.
ScalarField make_case_field(const std::string& key, const std::string& text, int dimension,
                            Requirement requirement);

}  // namespace tessera
