// This function says what went wrong with a report.
#pragma once

#include <functional>
#include <string>

#include "src/commands.hpp"

namespace tessera {

/// What work() returns, or, where no plot can be drawn, a line on stderr and no_resources.
/// @param named what the user named the report by, or empty
/// @throws InputError for what a report cannot be made of
ExitCode with_report_errors(const std::string& named, const std::function<ExitCode()>& work);

}  // namespace tessera
