// These functions ask the environment what a launcher such as mpirun started; MPI is not needed.
#pragma once

#include <string>

namespace tessera {

/// How many processes a launcher started beside this one and with it; 1 without a launcher. Who
/// computes a problem alone must refuse to run where there are more: all of them would do the same
/// work and write the same files.
int launched_processes();

/// How many of them are on this host, itself included; 0 if the launcher does not tell, as others
/// than Open MPI's do not.
int launched_processes_on_host();

/// The number of this process among them, from 0.
int launched_rank();

/// The name of the host that this process runs on.
std::string host_name();

}  // namespace tessera
