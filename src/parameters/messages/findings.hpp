// Findings are what reading an input found.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/parameters/messages/diagnostics.hpp"
#include "src/parameters/toml/value.hpp"

namespace tessera {

/// What reading an input found: where each key was written, and what is wrong.
class Findings {
 public:
  /// @param file what keys that were not written anywhere are reported under.
  explicit Findings(std::string file) : file_(std::move(file)) {}

  /// Remembers where a key was written and what the user wrote there.
  void note_written(const std::string& key, const Origin& origin, const std::string& value);

  /// Whether the user wrote the key (or, for a table's name, the table).
  bool is_written(std::string_view key) const;
  /// Whether the key was written in that place.
  bool is_written(std::string_view key, Layer layer) const;

  /// A diagnostic that names the key's file, line and value as the user wrote them; for a key not
  /// written, the file and key only.
  Diagnostic diagnostic(std::string_view key, std::string message) const;

  void report(Diagnostic diagnostic);
  /// The same unless it has been reported in these words.
  void report_once(Diagnostic diagnostic);
  /// Reports `diagnostic(key, message)`.
  void report(std::string_view key, std::string message);
  /// Whether anything was reported of the key, or of a table that it is in.
  bool has_error(std::string_view key) const;
  /// Whether anything was reported of the table, of one that it is in or of a key in it.
  bool has_error_in(std::string_view table) const;

  /// By file, then line, then as found.
  std::vector<Diagnostic> diagnostics() const;
  /// @throws InputError with all that was reported, if anything was.
  void throw_if_any() const;

 private:
  struct Written {
    Origin origin;
    std::string value;
  };
  std::string file_;
  std::map<std::string, Written, std::less<>> written_;
  std::vector<Diagnostic> diagnostics_;
  std::set<std::string, std::less<>> wrong_;
};

}  // namespace tessera
