// These functions find the shipped cases, and hold results to the comments in their files.
#pragma once

#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tests/src/program.hpp"

namespace tessera::testing {

// Results depend on the machine's rounding only through the solver's tolerance.
inline constexpr double kSpread = 0.02;
/// No spread for iterations: they are not looked at.
inline constexpr double kAnyIterations = -1.0;

/// The names of the cases, without those of studies.
inline std::vector<std::string> shipped_cases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(TESSERA_CASES)) {
    const std::string name = entry.path().filename().string();
    const bool is_study = name.starts_with("compare_") || name.starts_with("paper_");
    if (entry.path().extension() == ".toml" && !is_study) {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The lines "#   KEY = VALUE" after "# Expected:" of a case file.
inline std::vector<std::pair<std::string, std::string>> expectations(const std::string& text) {
  static const std::regex kLine("^#   ([a-z0-9_]+(?:\\.[a-z0-9_]+)+) = (\\S+)$");
  std::vector<std::pair<std::string, std::string>> found;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, kLine)) found.emplace_back(match[1], match[2]);
  }
  return found;
}

/// Holds the result of a shipped case to its comment.
/// @param directory in which the program ran
inline void expect_result_of_comment(const std::string& name,
                                     const std::filesystem::path& directory,
                                     double iteration_spread) {
  const auto expected = expectations(read_file(shipped(name + ".toml")));
  ASSERT_GE(expected.size(), 3U);
  const auto result = read_json(directory / "results" / name / "result.json").flatten();
  for (const auto& [key, text] : expected) {
    const bool is_iterations = key == "solver.iterations";
    if (is_iterations && iteration_spread == kAnyIterations) continue;
    const std::string pointer = "/" + std::regex_replace(key, std::regex("\\."), "/");
    ASSERT_TRUE(result.contains(pointer)) << key;
    if (text == "true") {
      EXPECT_TRUE(result[pointer].get<bool>()) << key;
      continue;
    }
    const double value = std::stod(text);
    const double spread = is_iterations ? iteration_spread : kSpread;
    EXPECT_NEAR(result[pointer].get<double>(), value, spread * std::abs(value)) << key;
  }
}

}  // namespace tessera::testing
