// This file matches the entries of a document with declared keys.
#include "src/parameters/key_matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "src/parameters/messages/suggestion.hpp"

namespace tessera {

namespace {

std::string join(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
}

std::string_view last_part(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

bool is_key(std::string_view name, std::span<const KeyDescription> keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const auto& key) { return key.name == name; });
}

bool is_table(std::string_view name, std::span<const KeyDescription> keys) {
  const std::string prefix = fmt::format("{}.", name);
  return std::any_of(keys.begin(), keys.end(),
                     [&](const auto& key) { return key.name.starts_with(prefix); });
}

/// Names of the keys and tables directly in a table (empty = the document).
std::vector<std::string> children(std::string_view table, std::span<const KeyDescription> keys) {
  const std::string prefix = table.empty() ? std::string() : fmt::format("{}.", table);
  std::vector<std::string> names;
  for (const KeyDescription& key : keys) {
    if (!key.name.starts_with(prefix)) continue;
    const std::string rest = key.name.substr(prefix.size());
    const std::string name = rest.substr(0, rest.find('.'));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

/// The key of another table whose own name was meant.
std::optional<std::string> nearest_elsewhere(std::string_view name,
                                             std::span<const KeyDescription> keys) {
  std::vector<std::string> last_parts;
  for (const KeyDescription& key : keys) last_parts.emplace_back(last_part(key.name));
  const auto meant = nearest(name, last_parts);
  if (!meant) return std::nullopt;
  const auto at = std::find(last_parts.begin(), last_parts.end(), *meant) - last_parts.begin();
  return keys[static_cast<std::size_t>(at)].name;
}

enum class Written { key, table };

std::string unknown_message(std::string_view table, std::string_view name, Written written,
                            std::span<const KeyDescription> keys) {
  const std::string unknown = written == Written::table ? "unknown table; " : "unknown key; ";
  const auto renamed = std::find_if(keys.begin(), keys.end(), [&](const KeyDescription& key) {
    return !key.formerly.empty() && key.formerly == join(table, name);
  });
  if (renamed != keys.end()) return fmt::format("{}it is {} now", unknown, renamed->name);
  const std::vector<std::string> siblings = children(table, keys);
  const auto sibling = nearest(name, siblings);
  const auto elsewhere = nearest_elsewhere(name, keys);
  const bool exact_elsewhere = elsewhere && last_part(*elsewhere) == name;
  if (sibling && !exact_elsewhere) {
    const std::string full = join(table, *sibling);
    const bool section = is_table(full, keys) && table.empty();
    return fmt::format("{}did you mean {}?", unknown, section ? "[" + full + "]" : full);
  }
  if (elsewhere) return fmt::format("{}did you mean {}?", unknown, *elsewhere);
  return fmt::format("{}{} knows {}", unknown,
                     table.empty() ? "the file" : fmt::format("[{}]", table),
                     fmt::join(siblings, ", "));
}

class Matcher {
 public:
  Matcher(std::span<const KeyDescription> keys, Findings& findings)
      : keys_(keys), findings_(findings), values_(keys.size()) {}

  std::vector<std::optional<TomlValue>> match(const TomlValue& document) {
    const auto& table = *document.get_if<TomlValue::Table>();
    refuse_other_kind(table, "study", "mesh", "a study, which tessera compare reads");
    refuse_other_kind(table, "mesh", "study", "a case, which tessera run and others read");
    visit_table(table, "");
    report_missing();
    return std::move(values_);
  }

 private:
  // Of a file of the other kind nothing else is worth saying.
  // @param theirs, ours tables that files of the other kind and of this one have
  void refuse_other_kind(const TomlValue::Table& document, const std::string& theirs,
                         const std::string& ours, const char* what) {
    if (is_table(theirs, keys_) || !is_table(ours, keys_)) return;
    const auto named =
        std::find_if(document.begin(), document.end(),
                     [&](const TomlMember& member) { return member.name == theirs; });
    if (named == document.end()) return;
    Diagnostic diagnostic = findings_.diagnostic(theirs, fmt::format("the file is {}", what));
    diagnostic.line = named->value.origin.line;
    diagnostic.value.clear();
    findings_.report(std::move(diagnostic));
    findings_.throw_if_any();
  }

  void visit_table(const TomlValue::Table& table, const std::string& prefix) {
    for (const TomlMember& member : table) visit(member, prefix);
  }

  void visit(const TomlMember& member, const std::string& prefix) {
    // A quoted name with a dot in it must not pass for a dotted name.
    const std::string name = join(prefix, key_text(member.name));
    const TomlValue& value = member.value;
    const auto* table = value.get_if<TomlValue::Table>();
    const bool known_table = is_table(name, keys_);
    // A table's text is all that is in it: too long to repeat, except on one line.
    findings_.note_written(name, member.origin,
                           table != nullptr && known_table ? "" : toml_text(value));
    if (is_key(name, keys_)) {
      check(name, value);
    } else if (known_table && table != nullptr) {
      visit_table(*table, name);
    } else if (known_table) {
      const bool inline_table = name.find('.') != std::string::npos;
      findings_.report(
          name, fmt::format("must be a table, {}, not {}",
                            inline_table ? "such as " + inline_example(name)
                                         : fmt::format("which starts with one line [{}]", name),
                            kind_of(value)));
    } else {
      report_unknown(name, prefix, member, table != nullptr ? Written::table : Written::key);
    }
  }

  void check(const std::string& name, const TomlValue& value) {
    const auto key = std::find_if(keys_.begin(), keys_.end(),
                                  [&](const KeyDescription& k) { return k.name == name; });
    CheckedValue result = check_value(*key, value);
    if (result.value) {
      values_[static_cast<std::size_t>(key - keys_.begin())] = std::move(result.value);
      return;
    }
    Diagnostic diagnostic = findings_.diagnostic(name, std::move(result.message));
    if (result.origin.line > 0) diagnostic.line = result.origin.line;
    findings_.report(std::move(diagnostic));
  }

  void report_unknown(const std::string& name, const std::string& prefix, const TomlMember& member,
                      Written written) {
    Diagnostic diagnostic =
        findings_.diagnostic(name, unknown_message(prefix, member.name, written, keys_));
    if (written == Written::table) diagnostic.value.clear();
    findings_.report(std::move(diagnostic));
  }

  // A value that is allowed.
  static TomlValue example_of(const KeyDescription& key) {
    if (!key.choices.empty()) return {key.choices.front()};
    const double number = key.range ? std::max(key.range->lower, 1.0) : 1.0;
    if (key.type == ValueType::integer || key.type == ValueType::count)
      return {static_cast<std::int64_t>(number)};
    if (key.type == ValueType::real) return {number};
    return {std::string("0")};
  }

  std::string inline_example(const std::string& name) const {
    TomlValue::Table table;
    for (const KeyDescription& key : keys_) {
      if (key.name.starts_with(name + ".") && key.presence != Presence::optional) {
        table.push_back({std::string(last_part(key.name)), example_of(key), {}});
      }
    }
    return toml_text({std::move(table)});
  }

  bool must_be_there(const KeyDescription& key, const std::string& table) const {
    return key.presence == Presence::required ||
           (key.presence == Presence::required_in_table && findings_.is_written(table));
  }

  void report_missing() {
    for (const KeyDescription& key : keys_) {
      const auto dot = key.name.rfind('.');
      const std::string table = dot == std::string::npos ? "" : key.name.substr(0, dot);
      if (!must_be_there(key, table) || findings_.is_written(key.name) ||
          findings_.has_error(key.name)) {
        continue;
      }
      Diagnostic diagnostic = findings_.diagnostic(table, "");
      diagnostic.key = key.name;
      diagnostic.value.clear();
      diagnostic.message = fmt::format("is required, and missing: {}", allowed_text(key));
      if (key.example) {
        diagnostic.message +=
            fmt::format(", such as {} = {}", last_part(key.name), toml_text(*key.example));
      }
      findings_.report(std::move(diagnostic));
    }
  }

  std::span<const KeyDescription> keys_;
  Findings& findings_;
  std::vector<std::optional<TomlValue>> values_;
};

// Whether the key is in the table.
bool is_within(std::string_view key, std::string_view table) {
  return key.size() > table.size() && key.starts_with(table) && key[table.size()] == '.';
}

}  // namespace

void apply_override(TomlValue& document, const Override& override_option,
                    std::span<const KeyDescription> keys, Findings& findings) {
  Assignment assignment;
  try {
    assignment = parse_override(override_option);
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) findings.report(diagnostic);
    return;
  }
  const std::string& name = assignment.key;
  const Origin origin = assignment.value.origin;
  if (!is_key(name, keys) && !is_table(name, keys)) {
    // The unknown part may be a table in the middle: say what that table, not the last, knows.
    std::size_t dot = name.find('.');
    while (dot != std::string::npos && is_table(name.substr(0, dot), keys)) {
      dot = name.find('.', dot + 1);
    }
    const std::string unknown = name.substr(0, dot);
    const auto parent = unknown.rfind('.');
    const std::string table = parent == std::string::npos ? "" : unknown.substr(0, parent);
    const bool is_inner = dot != std::string::npos;
    findings.report({.file = origin.file,
                     .key = name,
                     .value = toml_text(assignment.value),
                     .message = unknown_message(table, last_part(is_inner ? unknown : name),
                                                is_inner ? Written::table : Written::key, keys)});
    return;
  }
  TomlValue* place = &document;
  for (std::size_t begin = 0; begin < name.size();) {
    auto* table = place->get_if<TomlValue::Table>();
    // A scalar where the table should be is the file's error, which match_keys reports.
    if (table == nullptr) return;
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    auto member = std::find_if(table->begin(), table->end(),
                               [&](const TomlMember& m) { return m.name == part; });
    if (member == table->end()) {
      table->push_back({part, TomlValue{TomlValue::Table{}, origin}, origin});
      member = table->end() - 1;
    }
    if (end == name.size()) *member = {part, assignment.value, origin};
    place = &member->value;
    begin = end + 1;
  }
}

bool is_replaced(std::size_t i, const std::vector<Override>& overrides) {
  const std::string key = key_text(overrides[i]);
  return std::any_of(overrides.begin() + static_cast<std::ptrdiff_t>(i) + 1, overrides.end(),
                     [&](const Override& later) {
                       const std::string other = key_text(later);
                       return other == key || is_within(key, other) || is_within(other, key);
                     });
}

void add_findings_of(const Override& item, const TomlValue& document,
                     std::span<const KeyDescription> keys, std::vector<Diagnostic>& findings) {
  Findings so_far("");
  match_keys(document, keys, so_far);
  for (const Diagnostic& found : so_far.diagnostics()) {
    if (found.file == shown_text(item)) findings.push_back(found);
  }
}

void report_lost_overrides(const std::vector<Override>& overrides, Findings& findings) {
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    for (std::size_t j = i + 1; j < overrides.size(); ++j) {
      const std::string key = key_text(overrides[i]);
      if (!is_within(key, key_text(overrides[j]))) continue;
      findings.report({.file = shown_text(overrides[i]),
                       .message = fmt::format("is lost to {}, which comes later and sets all of {}",
                                              shown_text(overrides[j]), key_text(overrides[j]))});
    }
  }
}

std::vector<std::optional<TomlValue>> match_keys(const TomlValue& document,
                                                 std::span<const KeyDescription> keys,
                                                 Findings& findings) {
  return Matcher(keys, findings).match(document);
}

}  // namespace tessera
