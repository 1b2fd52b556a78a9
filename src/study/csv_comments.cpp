// This file says what made a CSV file.
#include "src/study/csv_comments.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <sstream>

#include "postprocess/files/human_units.hpp"
#include "solvers/memory/device.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/machine/machine.hpp"
#include "src/version.hpp"

namespace tessera {
namespace {

std::string comment(std::string_view key, std::string value) {
  for (char& c : value) c = c == '\n' || c == '\r' ? ' ' : c;
  return value.empty() ? "" : fmt::format("# {}: {}\n", key, value);
}

std::string gpu_name() {
  if constexpr (kHasCuda) return require_device().name;
  return "";
}

}  // namespace

std::string shell_word(const std::string& text) {
  constexpr char kPlain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

std::string command_line(std::string_view command, const std::string& file,
                         const std::vector<Override>& overrides) {
  std::string line = fmt::format("tessera {} {}", command, shell_word(file));
  for (const Override& option : overrides) {
    const std::size_t space = option.shown_as.find(' ');
    if (option.shown_as.empty()) {
      line += " --set " + shell_word(option.assignment);
    } else if (space == std::string::npos) {
      line += " " + option.shown_as;
    } else {
      line += fmt::format(" {} {}", option.shown_as.substr(0, space),
                          shell_word(option.shown_as.substr(space + 1)));
    }
  }
  return line;
}

std::string csv_comments(const std::string& title, const std::string& command, Processor processor,
                         const std::string& toml) {
  return csv_comments(title, command, processor, toml, machine_summary(describe_machine()));
}

std::string csv_comments(const std::string& title, const std::string& command, Processor processor,
                         const std::string& toml, const std::string& machine) {
  std::string file;
  std::istringstream lines(toml);
  for (std::string line; std::getline(lines, line);) file += comment("toml", line);
  return fmt::format("# {}\n", program_name()) + comment("title", title) +
         comment("command", command) + comment("compiler", kCompiler) +
         comment("machine", machine) +
         (processor == Processor::gpu ? comment("gpu", gpu_name()) : "") +
         comment("started", utc_text(std::chrono::system_clock::now())) + file;
}

std::string csv_beside(const std::string& csv, std::string_view what) {
  const std::filesystem::path path(csv);
  return path.parent_path() /
         fmt::format("{}_{}{}", path.stem().string(), what, path.extension().string());
}

}  // namespace tessera
