// The command convergence solves a case on finer and finer meshes and compares how errors fall.
#include "src/study/convergence.hpp"

#include "postprocess/files/atomic_file.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/standard_streams.hpp"

namespace tessera {
namespace {

// Before anything is computed.
void require_writable(const std::string& option, const std::string& path) {
  try {
    if (!path.empty()) AtomicFile(path).write("x");
  } catch (const OutputError& error) {
    throw InputError({{.file = option + " " + path, .message = error.what()}});
  }
}

}  // namespace

ExitCode convergence(const ConvergenceCommand& command) {
  const InterruptGuard guard;
  const LoadedCase base = make_case_registry().load(command.case_file, command.overrides);
  if (!base.parameters.problem.exact) {
    throw InputError({base.findings.diagnostic(
        "problem.exact",
        "is required, and missing: without the exact solution there are no errors "
        "to compare; an expression, such as \"sin(pi*x)*sin(pi*y)\"")});
  }
  require_writable("--csv", command.csv);
  const bool has_file = !command.csv.empty();
  if (has_file) ignore_broken_pipes();
  const ExitCode code = study_convergence(command, base);
  return code == ExitCode::success && !has_file && stdout_error() != 0 ? ExitCode::no_resources
                                                                       : code;
}

}  // namespace tessera
