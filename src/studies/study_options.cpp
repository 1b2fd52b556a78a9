// This file reads the options that one study has.
#include "src/studies/study_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "src/parameters/messages/diagnostics.hpp"
#include "src/parameters/messages/suggestion.hpp"

namespace tessera {
namespace {

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t comma = text.find(','); comma != std::string::npos;
       comma = text.find(',', start)) {
    parts.push_back(text.substr(start, comma - start));
    start = comma + 1;
  }
  parts.push_back(text.substr(start));
  return parts;
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

bool is_allowed(const OwnOption& option, const std::string& value) {
  if (!option.choices.empty()) {
    return std::find(option.choices.begin(), option.choices.end(), value) != option.choices.end();
  }
  if (option.numbers == OwnOption::Numbers::none) return true;
  const std::vector<std::string> parts = parts_of(value);
  if (parts.size() > 1 && option.numbers == OwnOption::Numbers::one) return false;
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    const std::optional<std::int64_t> number = whole_number(part);
    return number && option.min <= *number && *number <= option.max;
  });
}

std::string allowed_text(const OwnOption& option) {
  if (!option.choices.empty()) return fmt::format("must be {}", fmt::join(option.choices, " or "));
  return fmt::format(
      "must be {} from {} to {}",
      option.numbers == OwnOption::Numbers::one ? "a whole number" : "whole numbers, as 1,2,4,",
      option.min, option.max);
}

std::string not_for_text(const std::string& study, Processor processor) {
  const bool is_cpu = processor == Processor::cpu;
  return fmt::format("does nothing in the study {} on the {}: --device {} uses it", study,
                     is_cpu ? "CPU" : "GPU", is_cpu ? "cuda" : "cpu");
}

[[noreturn]] void fail_unknown(const std::string& study, const std::vector<OwnOption>& options,
                               const std::string& argument) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const OwnOption& option : options) names.push_back("--" + option.name);
  std::string message = fmt::format("the study {} has no such option", study);
  if (const auto meant = nearest(argument, names)) {
    message += fmt::format("; did you mean {}?", *meant);
  } else if (!names.empty()) {
    message += fmt::format("; its own are {}", fmt::join(names, ", "));
  }
  throw InputError({{.file = argument, .message = message}});
}

}  // namespace

bool OwnOption::is_for(Processor processor) const {
  return std::find(processors.begin(), processors.end(), processor) != processors.end();
}

OwnValues::OwnValues(const std::string& study, const std::vector<OwnOption>& options,
                     const std::vector<std::string>& arguments, StudySize size,
                     Processor processor) {
  for (const OwnOption& option : options) {
    const bool is_quick = size == StudySize::quick && !option.quick_preset.empty();
    values_[option.name] = is_quick ? option.quick_preset : option.preset;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    const auto option = std::find_if(options.begin(), options.end(), [&](const OwnOption& known) {
      return "--" + known.name == name;
    });
    if (option == options.end()) fail_unknown(study, options, name);
    if (!option->is_for(processor)) {
      throw InputError({{.file = name, .message = not_for_text(study, processor)}});
    }
    if (equals == std::string::npos && i + 1 == arguments.size()) {
      throw InputError({{.file = name, .message = "needs a value, " + option->placeholder}});
    }
    const std::string value =
        equals == std::string::npos ? arguments[++i] : arguments[i].substr(equals + 1);
    if (!is_allowed(*option, value)) {
      throw InputError(
          {{.file = fmt::format("{} {}", name, value), .message = allowed_text(*option)}});
    }
    if (option->reads_file && !value.empty() && !std::filesystem::is_regular_file(value)) {
      throw InputError(
          {{.file = fmt::format("{} {}", name, value), .message = "there is no such file"}});
    }
    values_[option->name] = value;
  }
}

std::vector<std::int64_t> OwnValues::numbers(const std::string& name) const {
  std::vector<std::int64_t> numbers;
  for (const std::string& part : parts_of(text(name))) {
    numbers.push_back(whole_number(part).value());
  }
  return numbers;
}

bool StudyOptions::selects(const std::string& variant) const {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& name) {
           return variant == name || variant.starts_with(name + "/");
         });
}

}  // namespace tessera
