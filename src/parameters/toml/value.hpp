// A TomlValue is a TOML value that remembers where it was written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera {

/// Which of the two places that can set a key did; an override wins over the file.
enum class Layer { file, override_option };

/// Where a value was written.
struct Origin {
  /// The file, or the option as typed.
  std::string file = {};
  /// Counted from 1; 0 = none.
  int line = 0;
  Layer layer = Layer::file;
};

struct TomlMember;

/// A TOML value that remembers where it was written; keeps the TOML library out of other headers.
struct TomlValue {
  using Array = std::vector<TomlValue>;
  /// In the order written, as far as that is known.
  using Table = std::vector<TomlMember>;
  /// A date or a time: TOML has them, no key takes them.
  struct DateTime {
    std::string text;
  };
  using Data = std::variant<bool, std::int64_t, double, std::string, DateTime, Array, Table>;

  Data data;
  Origin origin = {};

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  T* get_if() {
    return std::get_if<T>(&data);
  }
};

struct TomlMember {
  std::string name;
  TomlValue value;
  /// Of the name, which may be on another line than the value.
  Origin origin;
};

/// Whether the name needs no quotes in TOML.
bool is_bare_key(std::string_view name);

/// "an integer", "a table", ...
std::string_view kind_of(const TomlValue& value);

/// A string as TOML writes it, in double quotes.
std::string quote(std::string_view text);

/// A key's name as TOML writes it: in quotes unless it is made of letters, digits, _ and -.
std::string key_text(std::string_view name);

/// A finite number as TOML writes it: the shortest text that reads back as the same double, always
/// with a point or an exponent.
std::string number_text(double value);

/// The value as TOML on one line; tables are written inline.
std::string toml_text(const TomlValue& value);

}  // namespace tessera
