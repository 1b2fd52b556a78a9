// These functions say what went wrong with a report and with files that options name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operators/form/on_all_ranks.hpp"
#include "src/commands.hpp"

namespace tessera {

/// What work() returns, or, where no plot can be drawn, a line on stderr and no_resources.
/// @throws InputError for what a report cannot be made of
ExitCode with_report_errors(const std::function<ExitCode()>& work);

/// Does what is left to do in the handler of an exception, which is not lost if that fails, too: it
/// is complained of.
void complain_if_it_fails(const std::function<void()>& work);

/// Tries, before anything is computed, whether an option's file can be written, and that nothing is
/// in its place, which is replaced with Overwrite::yes alone. An empty path is none.
/// @throws InputError, and OutputError for a full disk
void require_writable(const std::string& option, const std::string& path, Overwrite overwrite);
/// The same for a table, which may replace one that the same command has written.
/// @param command as it is typed after `tessera`: "compare", "study assembly"
void require_writable_table(const std::string& option, const std::string& path,
                            const std::string& command, Overwrite overwrite);
/// The same for a table that an option or a key names. @throws OutputError
void require_writable_table(const std::string& path, const std::string& command,
                            Overwrite overwrite);
/// The same for a plot, which may replace plots.
void require_writable_plot(const std::string& option, const std::string& path, Overwrite overwrite);

/// The same for a page, which may replace pages. @throws InputError, OutputError for a full disk,
/// and PlotError if there is no gnuplot
void require_writable_page(const std::string& option, const std::string& path, Overwrite overwrite);

/// Removes a table that the same command has written earlier, and that would not belong to what is
/// written beside it now; another file is left alone. @throws OutputError
void remove_table(const std::string& path, const std::string& command);

/// A file that a command reads or writes, and what the user named it by.
struct NamedFile {
  std::string option;
  /// Empty: there is none.
  std::string path;
};

/// Refuses an output in the place of a file before it, by whatever names, which it would replace.
/// @param files inputs first, then outputs
/// @throws InputError
void require_different(const std::vector<NamedFile>& files);

/// Takes what with_report_errors() knows, InputError and OutputError to other ranks as they are.
const ErrorCarrier& report_errors();

}  // namespace tessera
