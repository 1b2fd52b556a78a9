// This file formats diagnostics.
#include "src/parameters/messages/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera {

namespace {

std::string join_lines(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += '\n';
    text += format_diagnostic(diagnostic);
  }
  return text;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

std::string format_diagnostic(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.line > 0) text += fmt::format(":{}", diagnostic.line);
  if (!diagnostic.key.empty()) {
    if (!text.empty()) text += ": ";
    text += diagnostic.key;
    if (!diagnostic.value.empty()) text += " = " + diagnostic.value;
  }
  if (!text.empty()) text += ": ";
  text += diagnostic.message;
  // What the user wrote is quoted in it: a newline in that must not break one line each, nor other
  // control characters reach the terminal.
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  return text;
}

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join_lines(diagnostics)), diagnostics_(std::move(diagnostics)) {}

}  // namespace tessera
