// These tests hold MPI's processes to what communicators promise; mpirun starts them.
#include <gtest/gtest.h>

#include "solvers/ranks/launched_processes.hpp"
#include "tests/solvers/ranks/communicator_checks.hpp"
#include "tests/solvers/ranks/mpi_world.hpp"

namespace tessera::testing {
namespace {

TEST(MpiRanks, AreAllThatWereLaunched) { EXPECT_EQ(mpi_world().size(), launched_processes()); }

TEST(MpiRanks, AreCommunicators) {
  check_reductions(mpi_world());
  check_exchanges(mpi_world());
  check_agreements(mpi_world());
}

}  // namespace
}  // namespace tessera::testing
