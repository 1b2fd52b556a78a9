// This file writes values and their comments as TOML.
#include "src/parameters/toml/writer.hpp"

#include <fmt/format.h>

#include <cctype>
#include <set>
#include <sstream>

namespace tessera {

namespace {

constexpr std::size_t kLineLength = 100;

/// A key's name taken apart: table, group and own name; the first two may be empty.
struct NameParts {
  std::string table;
  std::string group;
  std::string own;
};

NameParts split(const std::string& name) {
  const auto first = name.find('.');
  if (first == std::string::npos) return {"", "", name};
  const auto second = name.find('.', first + 1);
  if (second == std::string::npos) return {name.substr(0, first), "", name.substr(first + 1)};
  return {name.substr(0, first), name.substr(first + 1, second - first - 1),
          name.substr(second + 1)};
}

std::string as_comment(const std::string& text) {
  std::istringstream words(text);
  std::string lines;
  std::string line = "#";
  for (std::string word; words >> word;) {
    if (line.size() > 1 && line.size() + 1 + word.size() > kLineLength) {
      lines += line + "\n";
      line = "#  ";
    }
    line += " " + word;
  }
  return lines + line + "\n";
}

std::string key_comment(const KeyDescription& key, const std::string& name) {
  std::string text = name.empty() ? key.description : name + ": " + key.description;
  std::string allowed = allowed_text(key);
  allowed[0] = static_cast<char>(std::toupper(allowed[0]));
  text += fmt::format(" {}", allowed);
  if (!key.unit.empty()) text += fmt::format(", in {}", key.unit);
  if (key.presence == Presence::required) {
    text += "; required";
  } else if (key.presence == Presence::required_in_table) {
    text += "; required in the table";
  } else if (!key.default_text.empty()) {
    text += fmt::format("; default: {}", key.default_text);
  } else if (key.presence == Presence::optional) {
    text += "; optional";
  }
  return as_comment(text + ".");
}

class Writer {
 public:
  Writer(std::span<const KeyDescription> keys, const std::vector<std::optional<TomlValue>>& values,
         Comments comments)
      : keys_(keys), values_(values), comments_(comments) {}

  std::string write() {
    for (std::size_t i = 0; i < keys_.size();) {
      const NameParts parts = split(keys_[i].name);
      enter_table(parts.table);
      if (parts.group.empty()) {
        write_key(i++, parts);
      } else {
        i = write_group(i, parts);
      }
    }
    return text_;
  }

 private:
  void enter_table(const std::string& table) {
    if (table == table_) return;
    table_ = table;
    pending_header_ = true;
  }

  void write_line(const std::string& line) {
    if (pending_header_) {
      text_ += fmt::format("{}{}[{}]\n", text_.empty() ? "" : "\n", is_left_out(table_) ? "# " : "",
                           table_);
      pending_header_ = false;
    }
    text_ += line;
  }

  /// Whether no key of the table has a value: what is written of it then are comments.
  bool is_left_out(const std::string& table) const {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (values_[i] && split(keys_[i].name).table == table) return false;
    }
    return true;
  }

  void write_key(std::size_t i, const NameParts& parts) {
    const KeyDescription& key = keys_[i];
    if (values_[i]) {
      comment(key, "");
      write_line(fmt::format("{} = {}\n", parts.own, toml_text(*values_[i])));
    } else if (comments_ == Comments::full && key.example) {
      comment(key, "");
      write_line(fmt::format("# {} = {}\n", parts.own, toml_text(*key.example)));
    }
  }

  /// Writes the group's keys as one inline table and returns where the next key is.
  std::size_t write_group(std::size_t begin, const NameParts& group) {
    TomlValue::Table table;
    std::size_t end = begin;
    for (; end < keys_.size(); ++end) {
      const NameParts parts = split(keys_[end].name);
      if (parts.table != group.table || parts.group != group.group) break;
      if (values_[end]) table.push_back({parts.own, *values_[end], {}});
    }
    if (table.empty()) return end;
    for (std::size_t i = begin; i < end; ++i) comment(keys_[i], split(keys_[i].name).own);
    write_line(fmt::format("{} = {}\n", group.group, toml_text({std::move(table)})));
    return end;
  }

  void comment(const KeyDescription& key, const std::string& name) {
    if (comments_ == Comments::none) return;
    if (!key.family.empty() && !described_.insert(key.family).second) return;
    write_line(key_comment(key, name));
  }

  std::span<const KeyDescription> keys_;
  const std::vector<std::optional<TomlValue>>& values_;
  Comments comments_;
  std::string text_;
  std::string table_;
  bool pending_header_ = false;
  std::set<std::string> described_;
};

}  // namespace

std::string write_toml(std::span<const KeyDescription> keys,
                       const std::vector<std::optional<TomlValue>>& values, Comments comments) {
  return Writer(keys, values, comments).write();
}

}  // namespace tessera
