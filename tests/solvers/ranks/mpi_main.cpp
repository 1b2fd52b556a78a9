// This is the main function of test programs that mpirun starts: every process runs the same tests.
#include <gtest/gtest.h>

#include "tests/solvers/ranks/mpi_world.hpp"

namespace tessera::testing {

namespace {
const MpiRanks* world = nullptr;
}  // namespace

const MpiRanks& mpi_ranks() { return *world; }
const Communicator& mpi_world() { return world->world(); }

}  // namespace tessera::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const tessera::MpiRanks ranks;
  tessera::testing::world = &ranks;
  if (ranks.world().rank() > 0) {
    // One process prints; failures of the others are printed by them all the same.
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    listeners.Append(new tessera::testing::FailurePrinter(ranks.world().rank()));
    delete listeners.Release(listeners.default_result_printer());
  }
  const int status = RUN_ALL_TESTS();
  return ranks.world().any(status != 0) ? 1 : 0;
}
