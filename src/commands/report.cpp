// The command report writes one page about runs, comparisons and tables.
#include "postprocess/report/report.hpp"

#include "postprocess/report/plots/gnuplot.hpp"
#include "src/commands.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/parameters/messages/diagnostics.hpp"

namespace tessera {

ExitCode make_report(const ReportCommand& command) {
  std::vector<report::ReportInput> inputs;
  for (const std::string& input : command.inputs) inputs.push_back({input, std::nullopt});
  try {
    if (!command.output.empty()) {
      report::require_writable_report(command.output, command.overwrite);
      report::write_report(inputs, command.output);
      print_out("The report is in {}\n", command.output);
    }
    if (!command.plots.empty()) {
      for (const auto& path : report::write_plots(inputs, command.plots)) {
        print_out("{}\n", path.string());
      }
    }
  } catch (const report::BadInput& error) {
    throw InputError({Diagnostic{.message = error.what()}});
  } catch (const report::PlotError& error) {
    print_err("tessera: {}\n", error.what());
    return ExitCode::no_resources;
  }
  return ExitCode::success;
}

}  // namespace tessera
