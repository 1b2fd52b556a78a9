// The command compare measures the strategies or the solvers of a study side by side.
#include "mesh/errors.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "postprocess/ranks/output_on_all_ranks.hpp"
#include "postprocess/report/report.hpp"
#include "src/case/fields.hpp"
#include "src/case/ranks/rank_partition.hpp"
#include "src/case/ranks/shared_text.hpp"
#include "src/commands.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/report_errors.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/machine/rank_places.hpp"
#include "src/study/csv_comments.hpp"
#include "src/study/study_run.hpp"

namespace tessera {

namespace {

Loaded<StudyParameters> loaded_study(const CompareCommand& command, const Communicator& ranks) {
  Loaded<StudyParameters> loaded = make_study_registry().parse(
      shared_text(command.study_file, ranks), command.study_file, command.overrides);
  if (command.launches == LaunchReports::yes) {
    const auto refuse = [](const char* why) {
      throw InputError({{.file = std::string("--launches"), .message = why}});
    };
    if (study_processor(loaded.parameters) != Processor::gpu) {
      refuse(
          "reports the launches of GPU kernels, and this study is on the CPU; --set "
          "study.device=cuda puts it on a GPU");
    }
    if (ranks.size() > 1) {
      refuse("reports what one process launches on its GPU: start this without mpirun");
    }
  }
  loaded.parameters.processes = ranks.size();
  return loaded;
}

ExitCode measure(const Loaded<StudyParameters>& loaded, const CompareCommand& command,
                 const Communicator& ranks) {
  try {
    return loaded.parameters.solvers.empty() ? compare_operators(loaded.parameters, command, ranks)
                                             : compare_solvers(loaded.parameters, command, ranks);
  } catch (const report::BadInput& error) {
    // What is appended to.
    throw InputError({loaded.findings.diagnostic("study.output", error.what())});
  }
}

// Refuses an output in the place of what is read, or of another one.
void require_different_files(const StudyParameters& study, const CompareCommand& command) {
  const bool has_launches = command.launches == LaunchReports::yes && !study.output.empty();
  require_different({{"the study", command.study_file},
                     {"study.output (--csv)", study.output},
                     {"--launches", has_launches ? csv_beside(study.output, "launches") : ""},
                     {"--report", command.report}});
}

}  // namespace

ExitCode compare(const CompareCommand& command, const Communicator& ranks) {
  const InterruptGuard guard(ranks.size() > 1 ? StopRequests::agreed : StopRequests::at_once);
  require_same_version(ranks);
  const Loaded<StudyParameters> loaded = loaded_study(command, ranks);
  // Without a file the table is all there is, and nobody is left to read it.
  const bool has_file = !loaded.parameters.output.empty() || !command.report.empty();
  if (has_file) ignore_broken_pipes();
  const bool is_root = ranks.rank() == 0;
  require_different_files(loaded.parameters, command);
  try {
    output_on_all_ranks(ranks, [&] {
      const std::string& output = loaded.parameters.output;
      if (!is_root) return;
      require_writable_table(output, "compare", command.overwrite);
      if (output.empty() || command.launches == LaunchReports::no) return;
      require_writable_table(csv_beside(output, "launches"), "compare", command.overwrite);
    });
  } catch (const OutputError& error) {
    if (error.is_for_lack_of_space()) throw;
    throw InputError({loaded.findings.diagnostic("study.output", error.what())});
  }
  try {
    return with_report_errors([&] {
      on_all_ranks(
          ranks,
          [&] {
            if (is_root) require_writable_page("--report", command.report, command.overwrite);
          },
          &report_errors());
      const ExitCode code = measure(loaded, command, ranks);
      return has_file ? code : unless_stdout_is_lost(code);
    });
  } catch (const UnsuitableRanks& error) {
    throw InputError({loaded.findings.diagnostic(error.key(), error.what())});
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
