// These tests hold MPI's processes to what communicators promise; mpirun starts them.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

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
  check_failures(mpi_world());
}

// Each with a failure of its own, and some later than others.
TEST(MpiRanks, AgreeOnTheWorstFailureOutOfStep) {
  const Communicator& world = mpi_world();
  constexpr double kLong = 60.0;
  std::this_thread::sleep_for(std::chrono::milliseconds(20 * world.rank()));
  const auto agreed = mpi_ranks().agree_on_failure(
      world.rank() == 1 ? 7 : 3, "failure of rank " + std::to_string(world.rank()), kLong);
  ASSERT_TRUE(agreed);
  const int worst = world.size() > 1 ? 1 : 0;
  EXPECT_EQ(agreed->code, worst == 1 ? 7 : 3);
  EXPECT_EQ(agreed->rank, worst);
  EXPECT_EQ(agreed->message, "failure of rank " + std::to_string(worst));
}

}  // namespace
}  // namespace tessera::testing
