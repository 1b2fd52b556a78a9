// These functions read TOML from files and from the command line.
#pragma once

#include <string>
#include <string_view>

#include "src/parameters/toml/value.hpp"

namespace tessera {

/// A value given on the command line, which wins over the file's.
struct Override {
  /// `KEY=VALUE` with VALUE in TOML; a bare word is a string.
  std::string assignment;
  /// The option as the user typed it, for messages; empty = `--set ASSIGNMENT`.
  std::string shown_as = {};
};

/// As the user typed it.
std::string shown_text(const Override& item);

/// What stands before its `=`, be it a key or not; all of it if there is none.
std::string key_text(const Override& item);

/// An override taken apart.
struct Assignment {
  /// Dotted name.
  std::string key;
  TomlValue value;
};

/// The text of a file. @throws InputError if it is missing, a directory or unreadable.
std::string read_text_file(const std::string& path);

/// The table that TOML text stands for. @throws InputError with file and line on a syntax error.
TomlValue parse_toml(std::string_view text, const std::string& file);

/// @throws InputError if there is no `=`, the key is malformed, or VALUE is neither TOML nor a bare
///         word.
Assignment parse_override(const Override& override_option);

}  // namespace tessera
