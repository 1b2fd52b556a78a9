// The program starts here: it reads the command line, runs a command and ends with its exit code.
#include <fmt/format.h>
#include <malloc.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <variant>

#include "postprocess/checkpoint/checkpoint.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/memory/device_choice.hpp"
#include "solvers/ranks/launched_processes.hpp"
#include "solvers/ranks/mpi_ranks.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/commands.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/machine/cpu_check.hpp"
#include "src/machine/shared_cores.hpp"
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

// Commands that leave files, which several processes would write at the same time.
bool writes_files(const Command& command) {
  return std::holds_alternative<RunCommand>(command) ||
         std::holds_alternative<CompareCommand>(command) ||
         std::holds_alternative<ConvergenceCommand>(command) ||
         std::holds_alternative<StudyCommand>(command) ||
         std::holds_alternative<ReportCommand>(command);
}

bool computes_on_ranks(const Command& command) {
  return std::holds_alternative<RunCommand>(command) ||
         std::holds_alternative<CompareCommand>(command) ||
         (has_mpi() && std::holds_alternative<InfoCommand>(command));
}

// What a program is to say and do that cannot write to stdout: nothing for a reader who has had
// enough, as `head`. Where files hold the results, nothing else is lost.
ExitCode with_stdout_error(ExitCode code, const Command& command) {
  const int error = stdout_error();
  if (error == 0) return code;
  if (error != EPIPE) print_err("tessera: cannot write to stdout: {}\n", std::strerror(error));
  return code == ExitCode::success && !writes_files(command) ? ExitCode::no_resources : code;
}

/// How a command ended, and what is to be said if it failed.
struct Ending {
  ExitCode code;
  std::string message = {};
};

ExitCode do_command(const Command& command, const Communicator& ranks) {
  return std::visit(Overloaded{[&](const RunCommand& c) { return run(c, ranks); },
                               [](const CheckCommand& c) { return check(c); },
                               [&](const CompareCommand& c) { return compare(c, ranks); },
                               [](const ConvergenceCommand& c) { return convergence(c); },
                               [](const StudyCommand& c) { return study(c); },
                               [](const ReportCommand& c) { return make_report(c); },
                               [](const DefaultsCommand& c) { return print_defaults(c); },
                               [](const ListCommand& c) { return list(c); },
                               [&](const InfoCommand& c) { return info(c, ranks); },
                               [](const FinishedCommand& c) {
                                 write_stdout(c.standard_output);
                                 write_stderr(c.standard_error);
                                 return static_cast<ExitCode>(c.exit_code);
                               }},
                    command);
}

Ending execute(const Command& command, const Communicator& ranks) {
  const auto failed = [](ExitCode code, const std::exception& error, const char* more = "") {
    return Ending{code, fmt::format("tessera: {}{}", error.what(), more)};
  };
  const auto failed_inside = [](const std::exception& error) {
    return Ending{ExitCode::no_resources,
                  fmt::format("tessera: internal error, please report it: {}", error.what())};
  };
  try {
    return {do_command(command, ranks)};
  } catch (const InputError& error) {
    return {ExitCode::input_error, error.what()};
  } catch (const UnsuitableChoice& error) {
    return failed(ExitCode::input_error, error);
  } catch (const NumericalBreakdown& error) {
    return failed(ExitCode::input_error, error);
  } catch (const CheckpointError& error) {
    return failed(ExitCode::input_error, error);
  } catch (const NotEnoughMemory& error) {
    return failed(ExitCode::no_resources, error);
  } catch (const OutputError& error) {
    return failed(ExitCode::no_resources, error);
  } catch (const MpiError& error) {
    return failed(ExitCode::no_resources, error);
  } catch (const NoDevice& error) {
    return failed(ExitCode::no_resources, error, "; device = \"cpu\" needs none");
  } catch (const DeviceError& error) {
    return failed(ExitCode::no_resources, error);
  } catch (const Interrupted& error) {
    return failed(ExitCode::interrupted, error);
  } catch (const std::bad_alloc&) {
    return {ExitCode::no_resources, kOutOfMemory};
  } catch (const std::length_error&) {
    return {ExitCode::no_resources, kOutOfMemory};
  } catch (const std::system_error& error) {
    // fmt::print() throws it where stdout fails.
    if (std::ferror(stdout) == 0) return failed_inside(error);
    remember_stdout_error(error.code().value());
    return {ExitCode::success};
  } catch (const std::exception& error) {
    return failed_inside(error);
  }
}

void print(const Ending& ending) {
  if (!ending.message.empty()) print_err("{}\n", ending.message);
}

ExitCode execute_alone(const Command& command) {
  if constexpr (kHasCuda) leave_one_device(0);
  const Ending ending = execute(command, single_rank());
  print(ending);
  return ending.code;
}

// Says once what all ranks failed of. Where only some did, the others may wait for them: all end.
ExitCode end_together(const MpiRanks& mpi, const Ending& ending) {
  constexpr double kPatienceSeconds = 2.0;
  const int rank = mpi.world().rank();
  const auto of_rank = [](int failed, const std::string& message) {
    return failed == 0 ? message : fmt::format("rank {}: {}", failed, message);
  };
  const auto all =
      mpi.agree_on_failure(static_cast<int>(ending.code), ending.message, kPatienceSeconds);
  if (!all) {
    set_voice(Voice::speaks);
    print({ending.code, of_rank(rank, ending.message)});
    MpiRanks::abort(static_cast<int>(ending.code));
  }
  // A message may be longer than what others get of it.
  print({ending.code, of_rank(all->rank, all->rank == rank ? ending.message : all->message)});
  return static_cast<ExitCode>(all->code);
}

ExitCode execute_on_ranks(const Command& command) {
  std::optional<MpiRanks> mpi;
  try {
    mpi.emplace();
  } catch (const MpiError& error) {
    if (launched_rank() == 0) print_err("tessera: {}\n", error.what());
    return ExitCode::input_error;
  }
  if (mpi->world().rank() != 0) set_voice(Voice::is_silent);
  const Ending ending = execute(command, mpi->world());
  return ending.message.empty() ? ending.code : end_together(*mpi, ending);
}

// One process checks, for as many as there are.
ExitCode check_for_processes(CheckCommand command, int processes) {
  if (launched_rank() != 0) return ExitCode::success;
  if (command.ranks == 1) command.ranks = processes;
  return execute_alone(command);
}

ExitCode refuse_processes(int count) {
  if (launched_rank() == 0) {
    print_err(
        "tessera: {} processes were started, but only tessera run and tessera compare compute "
        "on several: start this without mpirun\n",
        count);
  }
  return ExitCode::input_error;
}

ExitCode execute(const Command& command) {
  if constexpr (kHasCuda) set_hardware_queues(1);
  const int processes = launched_processes();
  if (processes == 1) return execute_alone(command);
  if (computes_on_ranks(command)) return execute_on_ranks(command);
  if (const auto* const check = std::get_if<CheckCommand>(&command)) {
    return check_for_processes(*check, processes);
  }
  return writes_files(command) ? refuse_processes(processes) : execute_alone(command);
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  tessera::choose_waiting(argv);
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
