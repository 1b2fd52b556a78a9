// What a run reads must not give way to what it writes.
#pragma once

#include "solvers/ranks/communicator.hpp"
#include "src/case/setup.hpp"
#include "src/commands/time/restart.hpp"
#include "src/parameters/command_line.hpp"

namespace tessera {

/// Refuses a run that would put a result in the place of a file that it reads, under whatever
/// names: the case file, the file of its probes, the checkpoint of another directory. Only a case
/// file as an earlier run has written it is a result like others.
/// @param restart what the run goes on from; null if it begins
/// @param ranks of the run, which call this together
/// @throws InputError
void require_inputs_stay(const LoadedCase& loaded, const RunCommand& command,
                         const Restart* restart, const Communicator& ranks);

}  // namespace tessera
