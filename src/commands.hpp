// These are the commands of the program and its exit codes.
#pragma once

#include "solvers/ranks/communicator.hpp"
#include "src/parameters/command_line.hpp"

namespace tessera {

/// How the program ends.
enum class ExitCode {
  success = 0,
  input_error = 1,
  not_converged = 2,
  no_resources = 3,
  interrupted = 130
};

/// Each runs one command of the command line and returns how it ended; mistakes of the user and
/// lacking resources are thrown: InputError, NotEnoughMemory, OutputError, std::bad_alloc.
/// @param ranks that compute the case together, and call this together
ExitCode run(const RunCommand& command, const Communicator& ranks = single_rank());
ExitCode check(const CheckCommand& command);
ExitCode compare(const CompareCommand& command, const Communicator& ranks = single_rank());
ExitCode convergence(const ConvergenceCommand& command);
ExitCode study(const StudyCommand& command);
ExitCode make_report(const ReportCommand& command);
ExitCode print_defaults(const DefaultsCommand& command);
ExitCode list(const ListCommand& command);
ExitCode info(const InfoCommand& command, const Communicator& ranks = single_rank());

}  // namespace tessera
