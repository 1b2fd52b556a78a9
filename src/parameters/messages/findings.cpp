// This file collects diagnostics and sorts them by place.
#include "src/parameters/messages/findings.hpp"

#include <algorithm>
#include <utility>

namespace tessera {

namespace {

/// Long arrays would bury the message.
std::string shorten(const std::string& value) {
  constexpr std::size_t kLongest = 100;
  if (value.size() <= kLongest) return value;
  std::size_t end = kLongest - 3;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0U) == 0x80U) --end;
  return value.substr(0, end) + "...";
}

}  // namespace

void Findings::note_written(const std::string& key, const Origin& origin,
                            const std::string& value) {
  written_[key] = {origin, shorten(value)};
}

bool Findings::is_written(std::string_view key) const {
  return written_.find(key) != written_.end();
}

bool Findings::is_written(std::string_view key, Layer layer) const {
  const auto found = written_.find(key);
  return found != written_.end() && found->second.origin.layer == layer;
}

Diagnostic Findings::diagnostic(std::string_view key, std::string message) const {
  Diagnostic result{.file = file_, .key = std::string(key), .message = std::move(message)};
  if (const auto found = written_.find(key); found != written_.end()) {
    result.file = found->second.origin.file;
    result.line = found->second.origin.line;
    result.value = found->second.value;
  }
  return result;
}

void Findings::report(Diagnostic diagnostic) {
  wrong_.insert(diagnostic.key);
  diagnostics_.push_back(std::move(diagnostic));
}

void Findings::report_once(Diagnostic diagnostic) {
  const std::string text = format_diagnostic(diagnostic);
  const bool is_known =
      std::any_of(diagnostics_.begin(), diagnostics_.end(),
                  [&](const Diagnostic& other) { return format_diagnostic(other) == text; });
  if (!is_known) report(std::move(diagnostic));
}

void Findings::report(std::string_view key, std::string message) {
  report(diagnostic(key, std::move(message)));
}

bool Findings::has_error(std::string_view key) const {
  while (true) {
    if (wrong_.find(key) != wrong_.end()) return true;
    const auto dot = key.rfind('.');
    if (dot == std::string_view::npos) return false;
    key = key.substr(0, dot);
  }
}

bool Findings::has_error_in(std::string_view table) const {
  const std::string start = std::string(table) + ".";
  const auto first = wrong_.lower_bound(start);
  return has_error(table) || (first != wrong_.end() && first->starts_with(start));
}

std::vector<Diagnostic> Findings::diagnostics() const {
  std::vector<Diagnostic> sorted = diagnostics_;
  const auto rank = [&](const Diagnostic& d) { return d.file == file_ ? 0 : 1; };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(rank(a), a.line) < std::pair(rank(b), b.line);
  });
  return sorted;
}

void Findings::throw_if_any() const {
  if (!diagnostics_.empty()) throw InputError(diagnostics());
}

}  // namespace tessera
