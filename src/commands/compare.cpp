// The command compare measures the strategies or the solvers of a study side by side.
#include "mesh/errors.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "postprocess/report/report.hpp"
#include "src/case/fields.hpp"
#include "src/commands.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/report_errors.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/study/study_run.hpp"

namespace tessera {

ExitCode compare(const CompareCommand& command) {
  const InterruptGuard guard;
  const Loaded<StudyParameters> loaded =
      make_study_registry().load(command.study_file, command.overrides);
  if (command.launches == LaunchReports::yes &&
      study_processor(loaded.parameters) != Processor::gpu) {
    throw InputError({{.file = std::string("--launches"),
                       .message = "reports the launches of GPU kernels, and this study is on the "
                                  "CPU; --set study.device=cuda puts it on a GPU"}});
  }
  // Without a file the table is all there is, and nobody is left to read it.
  const bool has_file = !loaded.parameters.output.empty() || !command.report.empty();
  if (has_file) ignore_broken_pipes();
  try {
    if (!loaded.parameters.output.empty()) AtomicFile(loaded.parameters.output).write("x");
  } catch (const OutputError& error) {
    throw InputError({loaded.findings.diagnostic("study.output", error.what())});
  }
  try {
    return with_report_errors("--report", [&] {
      if (!command.report.empty()) {
        report::require_writable_report(command.report, command.overwrite);
      }
      const ExitCode code = loaded.parameters.solvers.empty()
                                ? compare_operators(loaded.parameters, command)
                                : compare_solvers(loaded.parameters, command);
      return has_file ? code : unless_stdout_is_lost(code);
    });
  } catch (const InvertedCell& error) {
    throw InputError({loaded.findings.diagnostic("study.map", error.what())});
  } catch (const LostDigits& error) {
    throw InputError({loaded.findings.diagnostic("study.map", error.what())});
  } catch (const BadExpressionValue& error) {
    throw InputError({loaded.findings.diagnostic(error.key(), error.what())});
  } catch (const BadFieldValue& error) {
    throw InputError({loaded.findings.diagnostic("", error.what())});
  }
}

}  // namespace tessera
