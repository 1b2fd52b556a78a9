// This file checks values against a key's description, and words what is allowed.
#include "src/parameters/reference/key_description.hpp"

#include <fmt/format.h>

#include <cmath>

#include "src/parameters/axis_spacing.hpp"
#include "src/parameters/messages/suggestion.hpp"
#include "src/parameters/probes/probe_points.hpp"
#include "src/parameters/ranks/rank_grid_choice.hpp"

namespace tessera {

namespace {

/// Above this, doubles skip integers, and so cannot say which one is meant.
constexpr double kLargestExact = 9007199254740992.0;

std::string bound_text(double bound) {
  // 1e+15 is easier to read than fifteen zeros, but must not stand for 999999999999999.
  const std::string brief = fmt::format("{:g}", bound);
  return std::stod(brief) == bound ? brief : fmt::format("{}", bound);
}

std::string range_text(const ValueRange& range) {
  const bool exclusive = range.bound == Bound::exclusive;
  if (std::isinf(range.upper)) {
    return fmt::format("{} {}", exclusive ? "greater than" : "at least", bound_text(range.lower));
  }
  if (exclusive) {
    return fmt::format("greater than {} and less than {}", bound_text(range.lower),
                       bound_text(range.upper));
  }
  return fmt::format("from {} to {}", bound_text(range.lower), bound_text(range.upper));
}

bool contains(const ValueRange& range, double value) {
  if (range.bound == Bound::exclusive) return value > range.lower && value < range.upper;
  return value >= range.lower && value <= range.upper;
}

enum class Number { singular, plural };

std::string entry_text(const KeyDescription& key, Number number) {
  const bool one = number == Number::singular;
  const std::string range =
      key.range ? (one ? " " : ", each ") + range_text(*key.range) : std::string();
  switch (*key.type) {
    case ValueType::boolean:
      return one ? "true or false" : "true or false each";
    case ValueType::integer:
    case ValueType::count:
      return (one ? "an integer" : "integers") + range;
    case ValueType::real:
      return (one ? "a number" : "numbers") + range;
    case ValueType::string:
      return one ? "a string" : "strings";
    case ValueType::expression:
      return one ? "an expression (a string or a number)" : "expressions (strings or numbers)";
    case ValueType::choice:
      return (one ? "one of " : "strings, each one of ") + list_choices(key.choices);
    case ValueType::spacing:
      return (one ? "" : "spacings, each ") + spacing_text();
    case ValueType::points:
      return probe_points_text();
    case ValueType::rank_grid:
      return rank_grid_text();
  }
  return {};
}

CheckedValue checked(TomlValue::Data data, const Origin& origin) {
  return {.value = TomlValue{std::move(data), origin}};
}

CheckedValue check_number(const KeyDescription& key, const TomlValue& value) {
  const auto* integer = value.get_if<std::int64_t>();
  const auto* real = value.get_if<double>();
  const bool whole =
      integer != nullptr || (*key.type == ValueType::count && real != nullptr &&
                             *real == std::floor(*real) && std::abs(*real) <= kLargestExact);
  const bool right_type = *key.type == ValueType::real
                              ? integer != nullptr || (real != nullptr && std::isfinite(*real))
                              : whole;
  if (!right_type) return {};
  const double number = integer != nullptr ? static_cast<double>(*integer) : *real;
  if (key.range && !contains(*key.range, number)) return {};
  if (*key.type == ValueType::real) return checked(number, value.origin);
  return checked(integer != nullptr ? *integer : static_cast<std::int64_t>(number), value.origin);
}

CheckedValue check_expression(const TomlValue& value) {
  if (const auto* text = value.get_if<std::string>()) {
    if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
      return {.message = "must not be empty; an expression is needed, such as \"sin(pi*x)\" or 0"};
    }
    return checked(*text, value.origin);
  }
  if (const auto* integer = value.get_if<std::int64_t>()) {
    return checked(std::to_string(*integer), value.origin);
  }
  if (const auto* real = value.get_if<double>(); real != nullptr && std::isfinite(*real)) {
    return checked(number_text(*real), value.origin);
  }
  return {};
}

CheckedValue check_choice(const KeyDescription& key, const TomlValue& value) {
  const auto* text = value.get_if<std::string>();
  if (text == nullptr) return {};
  for (const std::string& choice : key.choices) {
    if (*text == choice) return checked(choice, value.origin);
  }
  if (const auto meant = nearest(*text, key.choices)) {
    return {.message = fmt::format("must be {}; did you mean \"{}\"?",
                                   entry_text(key, Number::singular), *meant)};
  }
  return {};
}

CheckedValue check_entry(const KeyDescription& key, const TomlValue& value) {
  CheckedValue result;
  switch (*key.type) {
    case ValueType::boolean:
      if (value.get_if<bool>() != nullptr) result.value = value;
      break;
    case ValueType::string:
      if (value.get_if<std::string>() != nullptr) result.value = value;
      break;
    case ValueType::integer:
    case ValueType::count:
    case ValueType::real:
      result = check_number(key, value);
      break;
    case ValueType::expression:
      result = check_expression(value);
      break;
    case ValueType::choice:
      result = check_choice(key, value);
      break;
    case ValueType::spacing:
      result = check_spacing(value);
      break;
    case ValueType::points:
      result = check_probe_points(value);
      break;
    case ValueType::rank_grid:
      result = check_rank_grid(value);
      break;
  }
  if (!result.value && result.message.empty()) {
    result.message = "must be " + entry_text(key, Number::singular);
    const std::string_view kind = kind_of(value);
    // Saying "not an integer" to someone whose integer is out of range would mislead.
    const bool text_expected = *key.type == ValueType::string || *key.type == ValueType::choice;
    const bool text_given = value.get_if<std::string>() != nullptr;
    const bool integer_given = value.get_if<std::int64_t>() != nullptr;
    const bool number_given = integer_given || value.get_if<double>() != nullptr;
    const bool kind_is_right =
        (text_given && text_expected) || (integer_given && !text_expected) ||
        (number_given && (*key.type == ValueType::real || *key.type == ValueType::expression));
    if (*key.type == ValueType::boolean || !kind_is_right) {
      result.message += fmt::format(", not {}", kind);
    }
    if (const auto* real = value.get_if<double>(); real && !std::isfinite(*real)) {
      result.message += "; it must be finite";
    }
  }
  result.origin = value.origin;
  return result;
}

CheckedValue check_array(const KeyDescription& key, const TomlValue& value) {
  const auto* array = value.get_if<TomlValue::Array>();
  const auto wrong = [&](std::string message) {
    return CheckedValue{.message = std::move(message), .origin = value.origin};
  };
  if (array == nullptr) {
    return wrong(fmt::format("must be {}, not {}", allowed_text(key), kind_of(value)));
  }
  if (array->empty()) return wrong(fmt::format("must be {}; it is empty", allowed_text(key)));
  TomlValue::Array entries;
  std::string messages;
  Origin first_wrong;
  for (std::size_t i = 0; i < array->size(); ++i) {
    CheckedValue entry = check_entry(key, (*array)[i]);
    if (!entry.value) {
      if (messages.empty()) first_wrong = entry.origin;
      const std::string place = *key.shape == Shape::per_axis && i < 3
                                    ? fmt::format("entry {} (axis {})", i + 1, axis_name(i))
                                    : fmt::format("entry {}", i + 1);
      messages += fmt::format("{}{} is {}: {}", messages.empty() ? "" : "; ", place,
                              toml_text((*array)[i]), entry.message);
      continue;
    }
    for (std::size_t j = 0; *key.shape == Shape::list && j < entries.size(); ++j) {
      if (entries[j].data.index() == entry.value->data.index() &&
          toml_text(entries[j]) == toml_text(*entry.value)) {
        return wrong(fmt::format("has {} twice", toml_text(*entry.value)));
      }
    }
    entries.push_back(std::move(*entry.value));
  }
  if (!messages.empty()) return {.message = std::move(messages), .origin = first_wrong};
  return checked(std::move(entries), value.origin);
}

}  // namespace

ValueRange between(double lower, double upper) { return {.lower = lower, .upper = upper}; }

ValueRange at_least(double lower) { return {.lower = lower}; }

ValueRange greater_than(double lower) { return {.lower = lower, .bound = Bound::exclusive}; }

ValueRange inside(double lower, double upper) {
  return {.lower = lower, .upper = upper, .bound = Bound::exclusive};
}

std::string allowed_text(const KeyDescription& key) {
  switch (*key.shape) {
    case Shape::scalar:
      return entry_text(key, Number::singular);
    case Shape::list:
      return "an array of " + entry_text(key, Number::plural);
    case Shape::per_axis:
      return "an array, one entry per axis, of " + entry_text(key, Number::plural);
  }
  return {};
}

CheckedValue check_value(const KeyDescription& key, const TomlValue& value) {
  return *key.shape == Shape::scalar ? check_entry(key, value) : check_array(key, value);
}

std::string axis_name(std::size_t axis) { return std::string(1, "xyz"[axis]); }

}  // namespace tessera
