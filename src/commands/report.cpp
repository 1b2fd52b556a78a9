// The command report writes one page about runs, comparisons and tables.
#include "postprocess/report/report.hpp"

#include <filesystem>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/files/output_directory.hpp"
#include "src/commands.hpp"
#include "src/commands/report_errors.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/parameters/messages/diagnostics.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

// Refuses what can be no directory, before anything is written.
void require_directory(const std::string& option, const std::string& path) {
  std::error_code unknown;
  fs::path place = path;
  while (!place.empty() && !fs::exists(place, unknown)) place = place.parent_path();
  if (place.empty() || fs::is_directory(place, unknown)) return;
  throw InputError({{.file = option + " " + path, .message = place.string() + " is no directory"}});
}

void make_directory(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw OutputError(path, error.message());
}

// The page as a file in the directory of plots, which may take its name.
NamedFile page_among_plots(const ReportCommand& command) {
  const fs::path page = command.output;
  if (page.extension() != ".svg") return {};
  return {"a plot in --plots", (fs::path(command.plots) / page.filename()).string()};
}

}  // namespace

ExitCode make_report(const ReportCommand& command) {
  std::vector<report::ReportInput> inputs;
  for (const std::string& input : command.inputs) inputs.push_back({input, std::nullopt});
  return with_report_errors([&] {
    if (!command.plots.empty()) {
      require_directory("--plots", command.plots);
      require_different(
          {{"--plots", command.plots}, page_among_plots(command), {"-o", command.output}});
    }
    for (const std::string& input : command.inputs) {
      require_different({{"the input", input}, {"-o", command.output}});
      for (const std::string& result : results_in(input)) {
        require_different(
            {{"the result", (fs::path(input) / result).string()}, {"-o", command.output}});
      }
    }
    require_writable_page("-o", command.output, command.overwrite);
    std::vector<report::PlotFile> plots;
    if (!command.plots.empty()) plots = report::make_plots(inputs, command.plots);
    for (const report::PlotFile& plot : plots) {
      std::error_code unknown;
      if (!fs::exists(plot.path, unknown)) continue;
      require_writable_plot("--plots", plot.path.string(), command.overwrite);
    }
    if (!command.output.empty()) {
      report::write_report(inputs, command.output);
      print_out("The report is in {}\n", command.output);
    }
    if (!plots.empty()) make_directory(command.plots);
    for (const report::PlotFile& plot : plots) {
      write_text_file(plot.path, plot.svg);
      print_out("{}\n", plot.path.string());
    }
    return ExitCode::success;
  });
}

}  // namespace tessera
