// These are the errors that setting up a solver throws.
#pragma once

#include <stdexcept>
#include <string>

namespace tessera {

/// What is chosen for a problem, as far as an error may be about it.
enum class Choice { kernel, geometry, preconditioner };

/// A choice that is a good one as such, but is not possible with this problem: too many rows for
/// it, say. what() is for the one who chose: it says what the limit is.
class UnsuitableChoice : public std::invalid_argument {
 public:
  UnsuitableChoice(Choice choice, const std::string& message)
      : std::invalid_argument(message), choice_(choice) {}

  Choice choice() const { return choice_; }

 private:
  Choice choice_;
};

/// A preconditioner could not be made as numbers of the operator overflow, vanish or are not those
/// of a positive definite one.
class NumericalBreakdown : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tessera
