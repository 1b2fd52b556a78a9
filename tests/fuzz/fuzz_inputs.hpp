// These functions are what fuzzers, and the test of their corpus, call.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tessera::testing {

/// What became of a text that a user might write.
enum class Verdict { accepted, refused };

/// An answer to a user's text that is none: a message with control characters, a resolved file that
/// is not read back as it was written, a value where there should be none.
class BadAnswer : public std::logic_error {
  using std::logic_error::logic_error;
};

/// Reads a case file and does what `tessera check` does with it, but for the estimates of memory:
/// all checks of keys, the resolved file once more, and where there are few nodes the mesh, the map
/// and every expression at the nodes.
/// @throws BadAnswer, or whatever the program would throw past its handlers of users' mistakes
Verdict try_case_file(std::string_view text);

/// Parses an expression in 2D and in 3D, evaluates it and its factors at a few points, and compares
/// their product with it.
/// @throws as try_case_file()
Verdict try_expression(const std::string& text);

}  // namespace tessera::testing
