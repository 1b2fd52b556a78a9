// The command compare measures the strategies or the solvers of a study side by side.
#include "mesh/errors.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "src/case/fields.hpp"
#include "src/commands.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/study/study_run.hpp"

namespace tessera {

ExitCode compare(const CompareCommand& command) {
  const InterruptGuard guard;
  const Loaded<StudyParameters> loaded =
      make_study_registry().load(command.study_file, command.overrides);
  // Without a file the table is all there is, and nobody is left to read it.
  if (!loaded.parameters.output.empty()) ignore_broken_pipes();
  try {
    if (!loaded.parameters.output.empty()) AtomicFile(loaded.parameters.output).write("x");
  } catch (const OutputError& error) {
    throw InputError({loaded.findings.diagnostic("study.output", error.what())});
  }
  try {
    const ExitCode code = loaded.parameters.solvers.empty()
                              ? compare_operators(loaded.parameters, command.verbosity)
                              : compare_solvers(loaded.parameters, command.verbosity);
    const bool is_lost = loaded.parameters.output.empty() && stdout_error() != 0;
    return code == ExitCode::success && is_lost ? ExitCode::no_resources : code;
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
