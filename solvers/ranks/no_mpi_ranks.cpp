// This file is what a build without MPI has in the place of mpi_ranks.cpp.
#include <cstdlib>

#include "solvers/ranks/mpi_ranks.hpp"

namespace tessera {

bool has_mpi() noexcept { return false; }

MpiRanks::MpiRanks() { throw MpiError("this build has no MPI: it runs on one process"); }

MpiRanks::~MpiRanks() = default;

std::optional<Agreement> MpiRanks::agree_on_failure(int, const std::string&, double) const {
  return std::nullopt;
}

void MpiRanks::abort(int exit_code) { std::_Exit(exit_code); }

}  // namespace tessera
