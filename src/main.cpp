// The program starts here: it reads the command line, runs a command and ends with its exit code.
#include <fmt/format.h>
#include <malloc.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <variant>

#include "postprocess/checkpoint/checkpoint.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/ranks/launched_processes.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/commands.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/machine/cpu_check.hpp"
#include "src/parameters/messages/diagnostics.hpp"

namespace tessera {
namespace {

constexpr char kOutOfMemory[] = "tessera: out of memory; tessera check tells what a case needs";

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

// Arrays go back to the system when they are freed, whatever was freed before: what a run holds is
// then what was foreseen. By itself malloc keeps ever larger ones, up to 32 MiB each.
void return_freed_memory() {
  constexpr int kSmallestReturnedBytes = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, kSmallestReturnedBytes);
  mallopt(M_TRIM_THRESHOLD, kSmallestReturnedBytes);
}

ExitCode fail(ExitCode code, const std::string& message) {
  print_err("{}\n", message);
  return code;
}

// What a program is to say and do that cannot write to stdout: nothing for a reader who has had
// enough, as `head`. Where files hold the results, nothing else is lost.
ExitCode with_stdout_error(ExitCode code, const Command& command) {
  const int error = stdout_error();
  if (error == 0) return code;
  if (error != EPIPE) print_err("tessera: cannot write to stdout: {}\n", std::strerror(error));
  const bool has_files = std::holds_alternative<RunCommand>(command) ||
                         std::holds_alternative<CompareCommand>(command) ||
                         std::holds_alternative<ConvergenceCommand>(command) ||
                         std::holds_alternative<StudyCommand>(command) ||
                         std::holds_alternative<ReportCommand>(command);
  return code == ExitCode::success && !has_files ? ExitCode::no_resources : code;
}

ExitCode internal_error(const std::exception& error) {
  return fail(ExitCode::no_resources,
              fmt::format("tessera: internal error, please report it: {}", error.what()));
}

// Commands whose files several processes would write at the same time.
bool computes(const Command& command) {
  return std::holds_alternative<RunCommand>(command) ||
         std::holds_alternative<CompareCommand>(command) ||
         std::holds_alternative<ConvergenceCommand>(command) ||
         std::holds_alternative<StudyCommand>(command);
}

ExitCode refuse_processes(int count) {
  if (launched_rank() != 0) return ExitCode::input_error;
  return fail(ExitCode::input_error,
              fmt::format("tessera: {} processes were started, but one computes a problem so far: "
                          "start it without mpirun",
                          count));
}

ExitCode execute(const Command& command) {
  const int processes = launched_processes();
  if (processes > 1 && computes(command)) return refuse_processes(processes);
  try {
    return std::visit(Overloaded{[](const RunCommand& c) { return run(c); },
                                 [](const CheckCommand& c) { return check(c); },
                                 [](const CompareCommand& c) { return compare(c); },
                                 [](const ConvergenceCommand& c) { return convergence(c); },
                                 [](const StudyCommand& c) { return study(c); },
                                 [](const ReportCommand& c) { return make_report(c); },
                                 [](const DefaultsCommand& c) { return print_defaults(c); },
                                 [](const ListCommand& c) { return list(c); },
                                 [](const InfoCommand& c) { return info(c); },
                                 [](const FinishedCommand& c) {
                                   write_stdout(c.standard_output);
                                   write_stderr(c.standard_error);
                                   return static_cast<ExitCode>(c.exit_code);
                                 }},
                      command);
  } catch (const InputError& error) {
    return fail(ExitCode::input_error, error.what());
  } catch (const UnsuitableChoice& error) {
    return fail(ExitCode::input_error, fmt::format("tessera: {}", error.what()));
  } catch (const NumericalBreakdown& error) {
    return fail(ExitCode::input_error, fmt::format("tessera: {}", error.what()));
  } catch (const CheckpointError& error) {
    return fail(ExitCode::input_error, fmt::format("tessera: {}", error.what()));
  } catch (const NotEnoughMemory& error) {
    return fail(ExitCode::no_resources, fmt::format("tessera: {}", error.what()));
  } catch (const OutputError& error) {
    return fail(ExitCode::no_resources, fmt::format("tessera: {}", error.what()));
  } catch (const NoDevice& error) {
    return fail(ExitCode::no_resources,
                fmt::format("tessera: {}; device = \"cpu\" needs none", error.what()));
  } catch (const DeviceError& error) {
    return fail(ExitCode::no_resources, fmt::format("tessera: {}", error.what()));
  } catch (const Interrupted& error) {
    return fail(ExitCode::interrupted, fmt::format("tessera: {}", error.what()));
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::no_resources, kOutOfMemory);
  } catch (const std::length_error&) {
    return fail(ExitCode::no_resources, kOutOfMemory);
  } catch (const std::system_error& error) {
    // fmt::print() throws it where stdout fails.
    if (std::ferror(stdout) == 0) return internal_error(error);
    remember_stdout_error(error.code().value());
    return ExitCode::success;
  } catch (const std::exception& error) {
    return internal_error(error);
  }
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  tessera::return_freed_memory();
  tessera::prepare_standard_streams();
  const std::string missing = tessera::missing_cpu_features();
  if (!missing.empty()) {
    tessera::print_err(
        "tessera: this build needs a CPU with {}; build it on this machine, or with "
        "-DTESSERA_ARCH=x86-64-v2\n",
        missing);
    return static_cast<int>(tessera::ExitCode::no_resources);
  }
  const tessera::Command command = tessera::parse_command_line(argc, argv, tessera::program_name());
  return static_cast<int>(tessera::with_stdout_error(tessera::execute(command), command));
}
