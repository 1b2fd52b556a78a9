// The command convergence solves a case on finer and finer meshes and compares how errors fall.
#include "src/study/convergence/convergence.hpp"

#include "postprocess/report/plots/gnuplot.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/report_errors.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/study/convergence/time_convergence.hpp"

namespace tessera {
ExitCode convergence(const ConvergenceCommand& command) {
  const InterruptGuard guard;
  const LoadedCase base = make_case_registry().load(command.case_file, command.overrides);
  if (!base.parameters.problem.exact) {
    throw InputError({base.findings.diagnostic(
        "problem.exact",
        "is required, and missing: without the exact solution there are no errors "
        "to compare; an expression, such as \"sin(pi*x)*sin(pi*y)\"")});
  }
  require_different({{"the case", command.case_file},
                     {"--csv", command.csv},
                     {"--plot", command.plot},
                     {"--report", command.report}});
  require_writable_table("--csv", command.csv, "convergence", command.overwrite);
  require_writable_plot("--plot", command.plot, command.overwrite);
  const bool has_file = !command.csv.empty() || !command.plot.empty() || !command.report.empty();
  if (has_file) ignore_broken_pipes();
  return with_report_errors([&] {
    require_writable_page("--report", command.report, command.overwrite);
    if (!command.plot.empty()) report::require_gnuplot();
    const ExitCode code = base.parameters.time ? study_time_convergence(command, base)
                                               : study_convergence(command, base);
    return has_file ? code : unless_stdout_is_lost(code);
  });
}

}  // namespace tessera
