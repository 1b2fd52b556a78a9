// A Registry holds the keys of one kind of file, each declared once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/parameters/codec.hpp"
#include "src/parameters/key_matching.hpp"
#include "src/parameters/messages/findings.hpp"
#include "src/parameters/reference/key_description.hpp"
#include "src/parameters/reference/reference.hpp"
#include "src/parameters/toml/reader.hpp"
#include "src/parameters/toml/writer.hpp"

namespace tessera {

/// Parameters as read, with what is known of where each key was written: for diagnostics of what is
/// found wrong later.
template <class Parameters>
struct Loaded {
  Parameters parameters;
  Findings findings;
};

/// Keys whose values a struct of parameters holds, each declared once.
template <class Parameters>
class Keys {
 public:
  /// Declares a key.
  /// @param access maps parameters to a reference to the member that the key sets:
  ///        `[](auto& p) -> auto& { return p.space.degree; }`.
  template <class Access>
  void add(KeyDescription description, Access access) {
    add(std::move(description), access, [](const Parameters&) { return true; });
  }

  /// Declares a key that is left out of resolved files unless `applies(parameters)`.
  template <class Access, class Applies>
  void add(KeyDescription description, Access access, Applies applies) {
    using T = std::remove_cvref_t<decltype(access(std::declval<Parameters&>()))>;
    if (!description.type) description.type = Codec<T>::type;
    if (!description.shape) description.shape = Codec<T>::shape;
    if (description.choices.empty()) description.choices = Codec<T>::choices();
    if (!description.choices.empty()) description.type = ValueType::choice;
    keys_.push_back(std::move(description));
    store_.push_back([access](Parameters& parameters, const TomlValue& value) {
      access(parameters) = Codec<T>::from(value);
    });
    fetch_.push_back([access, applies](const Parameters& parameters) -> std::optional<TomlValue> {
      if (!applies(parameters)) return std::nullopt;
      return Codec<T>::to(access(parameters));
    });
  }

  /// Adds the keys of a member.
  template <class Member>
  void add(const Keys<Member>& keys, Member Parameters::*member) {
    keys_.insert(keys_.end(), keys.keys_.begin(), keys.keys_.end());
    for (const auto& store : keys.store_) {
      store_.push_back([store, member](Parameters& parameters, const TomlValue& value) {
        store(parameters.*member, value);
      });
    }
    for (const auto& fetch : keys.fetch_) {
      fetch_.push_back(
          [fetch, member](const Parameters& parameters) { return fetch(parameters.*member); });
    }
  }

  /// Adds the keys of a table that may be left out, which any of them makes. Its defaults are the
  /// examples of keys that have none.
  template <class Member>
  void add(const Keys<Member>& keys, std::optional<Member> Parameters::*member) {
    const std::vector<std::optional<TomlValue>> defaults = keys.fetch_all(Member{});
    for (std::size_t i = 0; i < keys.keys_.size(); ++i) {
      keys_.push_back(keys.keys_[i]);
      if (!keys_.back().example) keys_.back().example = defaults[i];
      store_.push_back(
          [store = keys.store_[i], member](Parameters& parameters, const TomlValue& value) {
            if (!(parameters.*member)) (parameters.*member).emplace();
            store(*(parameters.*member), value);
          });
      fetch_.push_back([fetch = keys.fetch_[i],
                        member](const Parameters& parameters) -> std::optional<TomlValue> {
        if (!(parameters.*member)) return std::nullopt;
        return fetch(*(parameters.*member));
      });
    }
  }

  const std::vector<KeyDescription>& keys() const { return keys_; }

  /// Stores the value of the key of this number, which has passed check_value.
  void store(std::size_t number, const TomlValue& value, Parameters& parameters) const {
    store_[number](parameters, value);
  }

  /// The values of all keys; nothing for those that are absent.
  std::vector<std::optional<TomlValue>> fetch_all(const Parameters& parameters) const {
    std::vector<std::optional<TomlValue>> values;
    for (const auto& fetch : fetch_) values.push_back(fetch(parameters));
    return values;
  }

 private:
  template <class>
  friend class Keys;

  std::vector<KeyDescription> keys_;
  std::vector<std::function<void(Parameters&, const TomlValue&)>> store_;
  std::vector<std::function<std::optional<TomlValue>(const Parameters&)>> fetch_;
};

/// The keys of one kind of file, and all that follows from the declarations: reading, checks, the
/// resolved file, the defaults file, the reference and the JSON Schema.
template <class Parameters>
class Registry : public Keys<Parameters> {
 public:
  using Keys<Parameters>::keys;

  /// Looks at several keys at once. It may fill in what depends on other keys, and reports what
  /// does not fit together; a key for which findings.has_error() holds has its default.
  using Check = std::function<void(Parameters&, Findings&)>;

  /// @param title of the reference and the schema.
  /// @param defaults the parameters of a file in which nothing is written.
  Registry(std::string title, Parameters defaults)
      : title_(std::move(title)), defaults_(std::move(defaults)) {}

  /// Checks run in the order added, after all keys are read.
  void add_check(Check check) { checks_.push_back(std::move(check)); }

  /// Reads a file, with overrides in the order given.
  /// @throws InputError that holds everything wrong with the file and the overrides.
  Loaded<Parameters> load(const std::string& path,
                          const std::vector<Override>& overrides = {}) const {
    return parse(read_text_file(path), path, overrides);
  }

  /// As `load`, of a file's text; `file` is its name in messages.
  Loaded<Parameters> parse(std::string_view text, const std::string& file,
                           const std::vector<Override>& overrides = {}) const {
    TomlValue document = parse_toml(text, file);
    Findings findings(file);
    std::vector<Diagnostic> of_replaced;
    for (std::size_t i = 0; i < overrides.size(); ++i) {
      apply_override(document, overrides[i], keys(), findings);
      if (is_replaced(i, overrides)) {
        add_findings_of(overrides[i], document, keys(), of_replaced);
      }
    }
    report_lost_overrides(overrides, findings);
    const auto values = match_keys(document, keys(), findings);
    Parameters parameters = resolve(values, findings);
    for (Diagnostic& found : of_replaced) findings.report_once(std::move(found));
    findings.throw_if_any();
    return {std::move(parameters), std::move(findings)};
  }

  /// The resolved file: every key that has a value. Read back, it gives identical parameters.
  std::string to_toml(const Parameters& parameters, Comments comments = Comments::none) const {
    return write_toml(keys(), this->fetch_all(parameters), comments);
  }

  /// A commented file with every key: the defaults, and examples for required and optional keys.
  std::string defaults_text() const {
    std::vector<std::optional<TomlValue>> values = this->fetch_all(example());
    const std::vector<std::optional<TomlValue>> unresolved = this->fetch_all(defaults_);
    for (std::size_t i = 0; i < values.size(); ++i) {
      // A number that stands for what follows from other keys goes on doing so.
      if (unresolved[i] && !keys()[i].default_text.empty() &&
          unresolved[i]->template get_if<std::int64_t>() != nullptr) {
        values[i] = unresolved[i];
      }
    }
    return write_toml(keys(), values, Comments::full);
  }

  std::string reference() const { return write_markdown(title_, keys(), default_values()); }

  std::string json_schema() const { return write_json_schema(title_, keys(), default_values()); }

 private:
  // A default of a table that is left out is its key's example.
  std::vector<std::optional<TomlValue>> default_values() const {
    std::vector<std::optional<TomlValue>> values = this->fetch_all(defaults_);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const KeyDescription& key = keys()[i];
      if (!values[i] && key.presence == Presence::defaulted) values[i] = key.example;
    }
    return values;
  }

  Parameters resolve(const std::vector<std::optional<TomlValue>>& values,
                     Findings& findings) const {
    Parameters parameters = defaults_;
    for (std::size_t i = 0; i < keys().size(); ++i) {
      if (values[i]) this->store(i, *values[i], parameters);
    }
    for (const Check& check : checks_) check(parameters, findings);
    return parameters;
  }

  Parameters example() const {
    std::vector<std::optional<TomlValue>> values(keys().size());
    for (std::size_t i = 0; i < keys().size(); ++i) {
      if (keys()[i].presence == Presence::required) values[i] = keys()[i].example;
    }
    Findings findings("");
    Parameters parameters = resolve(values, findings);
    findings.throw_if_any();
    return parameters;
  }

  std::string title_;
  Parameters defaults_;
  std::vector<Check> checks_;
};

}  // namespace tessera
