// This file turns the exceptions of reports and of files into those of the program.
#include "src/commands/report_errors.hpp"

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/report/plots/gnuplot.hpp"
#include "postprocess/report/report.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/parameters/messages/diagnostics.hpp"

namespace tessera {

ExitCode with_report_errors(const std::string& named, const std::function<ExitCode()>& work) {
  try {
    return work();
  } catch (const report::BadInput& error) {
    throw InputError({Diagnostic{.file = named, .message = error.what()}});
  } catch (const report::PlotError& error) {
    print_err("tessera: {}\n", error.what());
    return ExitCode::no_resources;
  }
}

void require_writable(const std::string& option, const std::string& path) {
  try {
    if (!path.empty()) AtomicFile(path).write("x");
  } catch (const OutputError& error) {
    throw InputError({{.file = option + " " + path, .message = error.what()}});
  }
}

}  // namespace tessera
