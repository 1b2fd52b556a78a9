// The command report writes one page about runs, comparisons and tables.
#include "postprocess/report/report.hpp"

#include "src/commands.hpp"
#include "src/commands/report_errors.hpp"
#include "src/commands/standard_streams.hpp"

namespace tessera {

ExitCode make_report(const ReportCommand& command) {
  std::vector<report::ReportInput> inputs;
  for (const std::string& input : command.inputs) inputs.push_back({input, std::nullopt});
  return with_report_errors("", [&] {
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
    return ExitCode::success;
  });
}

}  // namespace tessera
