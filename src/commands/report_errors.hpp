// These functions say what went wrong with a report and with files that options name.
#pragma once

#include <functional>
#include <string>

#include "operators/form/on_all_ranks.hpp"
#include "src/commands.hpp"

namespace tessera {

/// What work() returns, or, where no plot can be drawn, a line on stderr and no_resources.
/// @param named what the user named the report by, or empty
/// @throws InputError for what a report cannot be made of
ExitCode with_report_errors(const std::string& named, const std::function<ExitCode()>& work);

/// Tries, before anything is computed, whether an option's file can be written; an empty path is
/// none. @throws InputError
void require_writable(const std::string& option, const std::string& path);

/// Takes what with_report_errors() knows, and OutputError, to other ranks as it is.
const ErrorCarrier& report_errors();

}  // namespace tessera
