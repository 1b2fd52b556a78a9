// The command study measures how threads or GPU blocks share data and judges claims about it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/report/report.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/memory/device_choice.hpp"
#include "src/commands.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/report_errors.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/machine/machine.hpp"
#include "src/parameters/messages/suggestion.hpp"
#include "src/studies/study_record.hpp"
#include "src/studies/thread_team.hpp"
#include "src/study/csv_comments.hpp"

namespace tessera {
namespace {

constexpr int kUsualThreads[] = {1, 2, 4, 8, 16};

Pace pace_of(const StudyCommand& command) {
  const Pace usual = command.size == StudySize::quick
                         ? Pace{.repetitions = 10, .time_limit_s = 0.25}
                         : Pace{.repetitions = 100, .time_limit_s = 2.0};
  return {.repetitions = command.repetitions.value_or(usual.repetitions),
          .time_limit_s = command.time_limit_s.value_or(usual.time_limit_s)};
}

std::vector<int> usual_threads() {
  std::vector<int> threads;
  for (const int n : kUsualThreads) {
    if (why_no_team(n).empty()) threads.push_back(n);
  }
  return threads;
}

void check_variants(const StudyInfo& study, const std::vector<std::string>& only) {
  for (const std::string& name : only) {
    const auto is_it = [&](const std::string& variant) {
      return variant == name || variant.starts_with(name + "/");
    };
    if (std::any_of(study.variants.begin(), study.variants.end(), is_it)) continue;
    std::string message = fmt::format("is not a variant of {}; ", study.name);
    if (const auto meant = nearest(name, study.variants)) {
      message += fmt::format("did you mean {}?", *meant);
    } else {
      message += fmt::format("its variants are {}", fmt::join(study.variants, ", "));
    }
    throw InputError({{.file = "--only " + name, .message = message}});
  }
}

// @throws NoDevice
std::string gpu_name() {
  if constexpr (kHasCuda) return require_device().name;
  throw NoDevice("no GPU can be used: this build computes on the CPU only");
}

// @throws NoDevice, DeviceError where the CPU is no way out
void require_gpu(const StudyInfo& study) {
  try {
    static_cast<void>(gpu_name());
  } catch (const NoDevice& why) {
    if (study.runs_on(Processor::cpu)) throw;
    throw DeviceError(fmt::format("the study {} needs a GPU: {}", study.name, why.what()));
  }
}

Processor processor_of(const StudyInfo& study, const StudyCommand& command) {
  const Processor usual = study.runs_on(Processor::cpu) ? Processor::cpu : Processor::gpu;
  const Processor processor = command.device.empty()     ? usual
                              : command.device == "cuda" ? Processor::gpu
                                                         : Processor::cpu;
  // Studies have kernels in many streams.
  if constexpr (kHasCuda) {
    if (processor == Processor::gpu) set_hardware_queues(32);
  }
  // A missing GPU is what a user can do something about first.
  if (processor == Processor::gpu) require_gpu(study);
  if (!study.runs_on(processor)) {
    throw InputError({{.file = "--device " + command.device,
                       .message = fmt::format("the study {} does not run there; it needs {}",
                                              study.name, study.needs)}});
  }
  return processor;
}

std::string machine_of(Processor processor) {
  if (processor == Processor::gpu) return gpu_name();
  return describe_machine().cpu_model;
}

// Empty for no table.
std::string claims_path(const std::string& csv) {
  return csv.empty() ? "" : csv_beside(csv, "claims");
}

// What every study may write.
std::vector<NamedFile> files_of(const StudyCommand& command) {
  return {{"--csv", command.csv},
          {"the claims of --csv", claims_path(command.csv)},
          {"--report", command.report}};
}

/// One study as it is measured, and the files that its command names.
class StudySession {
 public:
  StudySession(const StudyInfo& study, const StudyCommand& command)
      : study_(study),
        command_(command),
        processor_(processor_of(study, command)),
        comments_(csv_comments(study.question, command_text(), processor_, "")),
        record_(study, options(), machine_of(processor_), command.verbosity) {}

  ExitCode execute() {
    require_own_files();
    introduce();
    try {
      study_.measure(record_);
    } catch (const Interrupted&) {
      write(rows_only());
      return ExitCode::interrupted;
    } catch (...) {
      complain_if_it_fails([&] { write(rows_only()); });
      throw;
    }
    write(with_claims());
    if (interrupted()) return ExitCode::interrupted;
    return conclude();
  }

 private:
  struct Files {
    std::string rows;
    /// Empty for an interrupted study, whose claims nobody judges.
    std::string claims;
  };

  std::string command_text() const {
    std::string text = "tessera study";
    for (const std::string& argument : command_.arguments) text += " " + shell_word(argument);
    return text;
  }

  StudyOptions options() const {
    check_variants(study_, command_.only);
    return {.processor = processor_,
            .threads = command_.threads.empty() ? usual_threads() : command_.threads,
            .pace = pace_of(command_),
            .seed = command_.seed,
            .only = command_.only,
            .size = command_.size,
            .own = OwnValues(study_.name, study_.options, command_.own, command_.size, processor_)};
  }

  void require_own_files() const {
    for (const OwnOption& option : study_.options) {
      if (!option.writes_file || !option.is_for(processor_)) continue;
      const std::string& path = record_.options().own.text(option.name);
      std::vector<NamedFile> files = files_of(command_);
      files.push_back({"--" + option.name, path});
      require_different(files);
      require_writable("--" + option.name, path, command_.overwrite);
    }
  }

  void introduce() {
    record_.say("{}: study {}: {}\n", program_name(), study_.name, study_.question);
    record_.say("from {}\n", study_.document);
    if (study_.layout.time_unit.empty()) {
      // A model says the same on every machine.
      if (processor_ == Processor::gpu) record_.say("on {}\n", record_.machine());
      return;
    }
    record_.say("on {}", record_.machine());
    if (processor_ == Processor::cpu) {
      record_.say(", {} thread{} at most, one a core", max_team_threads(),
                  max_team_threads() == 1 ? "" : "s");
    }
    const Pace& pace = record_.options().pace;
    record_.say("\nat most {} repetitions a row and {} s, but at least {}\n", pace.repetitions,
                pace.time_limit_s, kMinStudyRepetitions);
    if (processor_ != Processor::cpu || !command_.threads.empty()) return;
    std::vector<int> missing;
    for (const int n : kUsualThreads) {
      if (!why_no_team(n).empty()) missing.push_back(n);
    }
    if (!missing.empty()) {
      record_.say("{} threads: not measured: {}\n", fmt::join(missing, ", "),
                  why_no_team(missing.front()));
    }
  }

  Files rows_only() const { return {.rows = comments_ + record_.csv(), .claims = ""}; }

  Files with_claims() {
    std::vector<Finding> findings;
    findings.reserve(study_.claims.size());
    for (const Claim& claim : study_.claims) findings.push_back(judge(claim, record_.table()));
    record_.say("\n{}", claims_text(study_.claims, findings));
    Files files = rows_only();
    files.claims = comments_ + claims_csv(study_.name, study_.claims, findings);
    return files;
  }

  void write(const Files& files) {
    if (record_.table().rows().empty()) return;
    if (!command_.csv.empty()) {
      write_text_file(command_.csv, files.rows);
      record_.say("\nthe rows are in {}\n", command_.csv);
      if (!files.claims.empty()) {
        write_text_file(claims_path(command_.csv), files.claims);
        record_.say("the claims are in {}\n", claims_path(command_.csv));
      } else {
        remove_table(claims_path(command_.csv), "study " + study_.name);
      }
    }
    if (command_.report.empty()) return;
    std::vector<report::ReportInput> inputs = {{study_.name + ".csv", files.rows}};
    if (!files.claims.empty()) inputs.push_back({study_.name + "_claims.csv", files.claims});
    report::write_report(inputs, command_.report);
    record_.say("\nthe report is in {}\n", command_.report);
  }

  ExitCode conclude() const {
    const int wrong = record_.wrong_rows();
    if (wrong == 0) return ExitCode::success;
    print_err("tessera: {} row{} of {} had wrong results\n", wrong, wrong == 1 ? "" : "s",
              study_.name);
    return ExitCode::not_converged;
  }

  const StudyInfo& study_;
  const StudyCommand& command_;
  Processor processor_;
  std::string comments_;
  StudyRecord record_;
};

}  // namespace

ExitCode study(const StudyCommand& command) {
  const InterruptGuard guard;
  if (command.study.empty()) {
    if (!command.own.empty()) {
      throw InputError({{.file = command.own.front(),
                         .message = "is an option of no study here; "
                                    "name one: tessera study NAME"}});
    }
    print_out("{}", study_list());
    return unless_stdout_is_lost(ExitCode::success);
  }
  const StudyInfo& study = find_study(command.study);
  const bool has_file = !command.csv.empty() || !command.report.empty();
  if (has_file) ignore_broken_pipes();
  require_different(files_of(command));
  const std::string table_of = "study " + study.name;
  require_writable_table("--csv", command.csv, table_of, command.overwrite);
  require_writable_table("the claims of --csv", claims_path(command.csv), table_of,
                         command.overwrite);
  return with_report_errors([&] {
    require_writable_page("--report", command.report, command.overwrite);
    const ExitCode code = StudySession(study, command).execute();
    return has_file ? code : unless_stdout_is_lost(code);
  });
}

}  // namespace tessera
