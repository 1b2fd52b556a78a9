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

/// What a file of an option is.
enum class OutputKind { table, plot };

/// Tries, before anything is computed, whether an option's file can be written, and whether what is
/// in its place may be replaced: a file of the same kind by Tessera may, any other one only with
/// Overwrite::yes. An empty path is none. @throws InputError
void require_writable(const std::string& option, const std::string& path, OutputKind kind,
                      Overwrite overwrite);
/// The same for the file that an option or a key names. @throws OutputError
void require_writable(const std::string& path, OutputKind kind, Overwrite overwrite);

/// Takes what with_report_errors() knows, and OutputError, to other ranks as it is.
const ErrorCarrier& report_errors();

}  // namespace tessera
