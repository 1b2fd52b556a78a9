// These are the errors that setting up a solver throws.
#pragma once

#include <stdexcept>
#include <string>

namespace tessera {

/// The choices for a problem that an error may be about.
enum class Choice { kernel, factors, preconditioner, time_step };

/// A choice that is valid in general but not possible for this problem, which may have too many
/// rows for it. what() is a message for the user and names the limit.
class UnsuitableChoice : public std::invalid_argument {
 public:
  UnsuitableChoice(Choice choice, const std::string& message)
      : std::invalid_argument(message), choice_(choice) {}

  Choice choice() const { return choice_; }

 private:
  Choice choice_;
};

/// A preconditioner could not be made, because numbers of the operator overflow or vanish, or
/// because the operator is not positive definite.
class NumericalBreakdown : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tessera
