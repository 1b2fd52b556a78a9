// The comments with which a CSV file of measurements begins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "operators/strategy.hpp"
#include "src/parameters/toml/reader.hpp"

namespace tessera {

/// The text as a shell takes it for one word.
std::string shell_word(const std::string& text);

/// A command as it can be typed again: "tessera compare study.toml --set 'study.degrees=[2, 4]'".
std::string command_line(std::string_view command, const std::string& file,
                         const std::vector<Override>& overrides);

/// Lines "# key: value" that say what made the measurements, and where; the first names Tessera.
/// @param command command_line() @param toml what was measured with all defaults, a comment a line
/// @param machine machine_summary()
std::string csv_comments(const std::string& title, const std::string& command, Processor processor,
                         const std::string& toml, const std::string& machine);
/// The same with what this process may use of its machine.
std::string csv_comments(const std::string& title, const std::string& command, Processor processor,
                         const std::string& toml);

/// The file beside a CSV file: "rows_claims.csv" of "rows.csv" and "claims".
std::string csv_beside(const std::string& csv, std::string_view what);

}  // namespace tessera
