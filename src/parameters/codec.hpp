// A Codec turns a TOML value into a C++ value, and back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/parameters/names.hpp"
#include "src/parameters/reference/key_description.hpp"
#include "src/parameters/toml/value.hpp"

namespace tessera {

/// How a C++ type is stored in and read from a TOML value: `type`, `shape`, `from`, `to`. `to`
/// gives nothing for an absent value. Values given to `from` have passed check_value.
template <class T>
struct Codec;

template <class T, ValueType Type>
struct ScalarCodec {
  static constexpr ValueType type = Type;
  static constexpr Shape shape = Shape::scalar;
  static std::vector<std::string> choices() { return {}; }
  static T from(const TomlValue& value) { return *value.get_if<T>(); }
  static std::optional<TomlValue> to(const T& parameter) { return TomlValue{parameter}; }
};

template <>
struct Codec<bool> : ScalarCodec<bool, ValueType::boolean> {};
template <>
struct Codec<std::int64_t> : ScalarCodec<std::int64_t, ValueType::integer> {};
template <>
struct Codec<double> : ScalarCodec<double, ValueType::real> {};
template <>
struct Codec<std::string> : ScalarCodec<std::string, ValueType::string> {};

/// Keys of this type are declared with a range that an int holds.
template <>
struct Codec<int> : ScalarCodec<int, ValueType::integer> {
  static int from(const TomlValue& value) {
    return static_cast<int>(*value.get_if<std::int64_t>());
  }
  static std::optional<TomlValue> to(int parameter) { return TomlValue{std::int64_t{parameter}}; }
};

template <class E>
requires std::is_enum_v<E>
struct Codec<E> : ScalarCodec<E, ValueType::choice> {
  static std::vector<std::string> choices() { return {kNamesOf<E>.begin(), kNamesOf<E>.end()}; }
  static E from(const TomlValue& value) {
    constexpr auto& names = kNamesOf<E>;
    const auto found = std::find(names.begin(), names.end(), *value.get_if<std::string>());
    if (found == names.end()) throw std::logic_error("an unchecked choice reached the parameters");
    return static_cast<E>(found - names.begin());
  }
  static std::optional<TomlValue> to(E parameter) {
    return TomlValue{std::string(name_of(parameter))};
  }
};

template <class T>
struct Codec<std::optional<T>> : Codec<T> {
  static std::optional<T> from(const TomlValue& value) { return Codec<T>::from(value); }
  static std::optional<TomlValue> to(const std::optional<T>& parameter) {
    return parameter ? Codec<T>::to(*parameter) : std::nullopt;
  }
};

/// An empty vector stands for an absent value.
template <class T>
struct Codec<std::vector<T>> {
  static constexpr ValueType type = Codec<T>::type;
  static constexpr Shape shape = Shape::list;
  static std::vector<std::string> choices() { return Codec<T>::choices(); }
  static std::vector<T> from(const TomlValue& value) {
    std::vector<T> parameter;
    for (const TomlValue& entry : *value.get_if<TomlValue::Array>()) {
      parameter.push_back(Codec<T>::from(entry));
    }
    return parameter;
  }
  static std::optional<TomlValue> to(const std::vector<T>& parameter) {
    if (parameter.empty()) return std::nullopt;
    TomlValue::Array array;
    for (const T& entry : parameter) array.push_back(*Codec<T>::to(entry));
    return TomlValue{std::move(array)};
  }
};

}  // namespace tessera
