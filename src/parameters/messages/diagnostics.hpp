// A Diagnostic is one thing that is wrong with an input.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace tessera {

/// One thing wrong with what the user wrote.
struct Diagnostic {
  /// The file, or the option as typed (`--set KEY=VALUE`); empty if neither applies.
  std::string file = {};
  /// Counted from 1; 0 = none.
  int line = 0;
  /// Dotted name, such as `mesh.cells`; empty if the whole file is meant.
  std::string key = {};
  /// As TOML text; empty if the key was not written.
  std::string value = {};
  std::string message = {};
};

/// `FILE:LINE: KEY = VALUE: message` on one line, absent parts left out.
std::string format_diagnostic(const Diagnostic& diagnostic);

/// Everything wrong with an input, found before anything else happens; what() has one line each.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);

  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace tessera
