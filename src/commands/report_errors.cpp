// This file turns the exceptions of reports and of files into those of the program.
#include "src/commands/report_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/files/file_head.hpp"
#include "postprocess/files/output_directory.hpp"
#include "postprocess/ranks/output_on_all_ranks.hpp"
#include "postprocess/report/plots/gnuplot.hpp"
#include "postprocess/report/report.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/parameters/messages/diagnostics.hpp"

namespace tessera {
namespace {

constexpr char kTableHead[] = "# Tessera ";

// Whether what the path names has nothing that could be lost: it is no file, or an empty one.
bool is_free(const std::string& path) {
  std::error_code unknown;
  return !std::filesystem::is_regular_file(path, unknown) || file_head(path).empty();
}

bool is_plot(const std::string& path) {
  const std::string head = file_head(path);
  // The name of a mark in what gnuplot draws.
  return head.find("<svg") != std::string::npos && head.find("gpPt") != std::string::npos;
}

// The words of the command that has written a table, behind `tessera`; none where its head does not
// say.
std::vector<std::string> command_of_table(const std::string& path) {
  constexpr std::string_view kBegin = "# command: ";
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && line.starts_with('#');) {
    if (!line.starts_with(kBegin)) continue;
    std::istringstream words(line.substr(kBegin.size()));
    std::string word;
    while (words >> word && word != "tessera") continue;  // behind a launcher of processes
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

// Whether this command has written it. A study's name may stand behind options.
bool is_table_of(const std::string& path, const std::string& command) {
  const std::vector<std::string> words = command_of_table(path);
  const std::size_t space = std::min(command.find(' '), command.size());
  if (words.empty() || words.front() != command.substr(0, space)) return false;
  return space == command.size() ||
         std::find(words.begin(), words.end(), command.substr(space + 1)) != words.end();
}

// Why a table of this command may not replace what is in the place; empty if it may.
std::string why_no_table(const std::string& path, const std::string& command) {
  if (!file_head(path).starts_with(kTableHead)) return "it exists and is no table of Tessera";
  if (is_table_of(path, command)) return "";
  return fmt::format("it is a table, but none of `tessera {}`", command);
}

// Whether a run has left it in its directory.
bool is_result_of_run(const std::filesystem::path& path) {
  const std::filesystem::path directory = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(directory / "result.json", unknown)) return false;
  const std::vector<std::string> results = results_in(directory);
  return std::find(results.begin(), results.end(), path.filename().string()) != results.end();
}

// Tries to write a file. @param refuse says why what is in the place may not be replaced
void require_writable_unless(const std::string& path, Overwrite overwrite,
                             const std::function<std::string()>& refuse) {
  if (path.empty()) return;
  if (overwrite == Overwrite::no && is_result_of_run(path)) {
    throw OutputError(path, "it is a result of the run in its directory; --overwrite replaces it");
  }
  if (overwrite == Overwrite::no && !is_free(path)) {
    if (const std::string why = refuse(); !why.empty()) {
      throw OutputError(path, fmt::format("{}; --overwrite replaces it", why));
    }
  }
  AtomicFile(path).write("x");
}

// Errors of the file that an option names.
void with_option_errors(const std::string& option, const std::string& path,
                        const std::function<void()>& work) {
  try {
    work();
  } catch (const OutputError& error) {
    if (error.is_for_lack_of_space()) throw;
    throw InputError({{.file = option + " " + path, .message = error.what()}});
  }
}

// The name of the file that is or will be at the path, links followed.
std::filesystem::path file_at(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::path absolute = std::filesystem::absolute(path, unknown);
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(absolute, unknown);
  return unknown ? absolute.lexically_normal() : canonical;
}

}  // namespace

ExitCode with_report_errors(const std::function<ExitCode()>& work) {
  try {
    return work();
  } catch (const report::BadInput& error) {
    throw InputError({Diagnostic{.message = error.what()}});
  } catch (const report::PlotError& error) {
    print_err("tessera: {}\n", error.what());
    return ExitCode::no_resources;
  }
}

void complain_if_it_fails(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    print_err("tessera: {}\n", error.what());
  }
}

void require_writable_table(const std::string& path, const std::string& command,
                            Overwrite overwrite) {
  require_writable_unless(path, overwrite, [&] { return why_no_table(path, command); });
}

void require_writable_table(const std::string& option, const std::string& path,
                            const std::string& command, Overwrite overwrite) {
  with_option_errors(option, path, [&] { require_writable_table(path, command, overwrite); });
}

void require_writable_plot(const std::string& option, const std::string& path,
                           Overwrite overwrite) {
  with_option_errors(option, path, [&] {
    require_writable_unless(path, overwrite, [&] {
      return std::string(is_plot(path) ? "" : "it exists and is no plot of Tessera");
    });
  });
}

void require_writable(const std::string& option, const std::string& path, Overwrite overwrite) {
  with_option_errors(option, path, [&] {
    require_writable_unless(path, overwrite, [] { return std::string("it exists"); });
  });
}

void require_writable_page(const std::string& option, const std::string& path,
                           Overwrite overwrite) {
  if (path.empty()) return;
  try {
    report::require_writable_report(path, overwrite);
  } catch (const report::BadInput& error) {
    throw InputError({{.file = option + " " + path, .message = error.what()}});
  }
}

void remove_table(const std::string& path, const std::string& command) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;
  if (!why_no_table(path, command).empty()) return;
  std::filesystem::remove(path, error);
  if (error) throw OutputError(path, error.message());
}

void require_different(const std::vector<NamedFile>& files) {
  for (auto one = files.begin(); one != files.end(); ++one) {
    if (one->path.empty()) continue;
    const auto other = std::find_if(files.begin(), one, [&](const NamedFile& before) {
      return !before.path.empty() && file_at(before.path) == file_at(one->path);
    });
    if (other == one) continue;
    throw InputError({{.file = one->option + " " + one->path,
                       .message = fmt::format("is the file of {} {} as well, and would replace it; "
                                              "each needs a name of its own",
                                              other->option, other->path)}});
  }
}

namespace {

// The first text begins with a letter for the type.
class ReportErrors final : public ErrorCarrier {
 public:
  std::optional<Texts> texts_of(const std::exception& error) const override {
    if (dynamic_cast<const report::BadInput*>(&error) != nullptr) return Texts{"i", error.what()};
    if (dynamic_cast<const report::PlotError*>(&error) != nullptr) return Texts{"p", error.what()};
    if (dynamic_cast<const InputError*>(&error) != nullptr) return Texts{"u", error.what()};
    std::optional<Texts> texts = output_errors().texts_of(error);
    if (texts) (*texts)[0].insert(0, "o");
    return texts;
  }
  [[noreturn]] void throw_again(const Texts& texts) const override {
    if (texts[0] == "i") throw report::BadInput(texts[1]);
    if (texts[0] == "p") throw report::PlotError(texts[1]);
    if (texts[0] == "u") throw InputError({{.message = texts[1]}});
    throw OutputError(texts[0].substr(1), texts[1]);
  }
};

}  // namespace

const ErrorCarrier& report_errors() {
  static const ReportErrors carrier;
  return carrier;
}

}  // namespace tessera
