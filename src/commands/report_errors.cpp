// This file turns the exceptions of reports and of files into those of the program.
#include "src/commands/report_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

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

// Whether nothing is lost with what is in the place: nothing, or a file of the same kind.
bool is_replaceable(const std::string& path, OutputKind kind) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return true;
  const std::string head = file_head(path);
  if (head.empty()) return true;
  if (kind == OutputKind::other) return false;
  if (kind == OutputKind::table) return head.starts_with(kTableHead);
  // The name of a mark in what gnuplot draws.
  return head.find("<svg") != std::string::npos && head.find("gpPt") != std::string::npos;
}

// Whether a run has left it in its directory.
bool is_result_of_run(const std::filesystem::path& path) {
  const std::filesystem::path directory = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(directory / "result.json", unknown)) return false;
  const std::vector<std::string> results = results_in(directory);
  return std::find(results.begin(), results.end(), path.filename().string()) != results.end();
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

void require_writable(const std::string& path, OutputKind kind, Overwrite overwrite) {
  if (path.empty()) return;
  if (overwrite == Overwrite::no && is_result_of_run(path)) {
    throw OutputError(path, "it is a result of the run in its directory; --overwrite replaces it");
  }
  if (overwrite == Overwrite::no && !is_replaceable(path, kind)) {
    constexpr std::array<const char*, 3> kWhat = {" and is no table of Tessera",
                                                  " and is no plot of Tessera", ""};
    throw OutputError(path, fmt::format("it exists{}; --overwrite replaces it",
                                        kWhat.at(static_cast<std::size_t>(kind))));
  }
  AtomicFile(path).write("x");
}

void require_writable(const std::string& option, const std::string& path, OutputKind kind,
                      Overwrite overwrite) {
  try {
    require_writable(path, kind, overwrite);
  } catch (const OutputError& error) {
    if (error.is_for_lack_of_space()) throw;
    throw InputError({{.file = option + " " + path, .message = error.what()}});
  }
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

void remove_table(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;
  if (!file_head(path).starts_with(kTableHead)) return;
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
