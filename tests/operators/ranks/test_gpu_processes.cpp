// These tests hold what MPI's processes compute on GPUs to one rank's: by NCCL where each has a GPU
// for itself, by way of the host where they share some.
#include <gtest/gtest.h>

#include "solvers/memory/device_choice.hpp"
#include "solvers/ranks/gpu/nccl_carrier.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/ranks/rank_checks.hpp"
#include "tests/solvers/ranks/mpi_world.hpp"

namespace tessera::testing {
namespace {

RankGrid slabs() { return {1, 1, mpi_world().size()}; }
ProblemOptions usual_options() { return {.cells = {3, 4, Index{mpi_world().size()} + 1}}; }

class ProcessesOnGpus : public ::testing::Test {
 protected:
  void SetUp() override {
    TESSERA_REQUIRE_DEVICE();
    const int gpus = visible_devices();
    choose_device(mpi_world().rank() % gpus);
    // One communicator of NCCL serves all tests, as it does in a run.
    static const std::shared_ptr<const DeviceCarrier> carrier = make_carrier(gpus);
    ASSERT_NE(carrier, nullptr);
    carrier_maker() = [&](const Communicator& ranks) {
      return ranks.size() == 1 ? make_staged_carrier(ranks) : carrier;
    };
  }

 private:
  static std::shared_ptr<const DeviceCarrier> make_carrier(int gpus) {
    if (mpi_world().size() > gpus) return make_staged_carrier(mpi_world());
    std::string why_not;
    auto nccl = make_nccl_carrier(mpi_world(), kNcclLibrary, why_not);
    EXPECT_NE(nccl, nullptr) << why_not;
    return nccl;
  }
};

TEST_F(ProcessesOnGpus, ApplyOperatorsAsOneRank) {
  ProblemOptions options = usual_options();
  check_operators<double, Device>(mpi_world(), slabs(), options);
  options.geometry = Geometry::graded;
  options.coefficient = Coefficient::constant;
  check_operators<float, Device>(mpi_world(), slabs(), options);
  check_operators<double, Device>(mpi_world(), {mpi_world().size(), 1, 1},
                                  {.degree = 3, .cells = {Index{mpi_world().size()} + 2, 3, 2}});
}

TEST_F(ProcessesOnGpus, SumAsOneRank) { check_sums<Device>(mpi_world(), slabs(), usual_options()); }

TEST_F(ProcessesOnGpus, SolveAsOneRankAndTwiceWithTheSameBits) {
  const ProblemOptions options = usual_options();
  for (const SolverMethod method : {SolverMethod::cg, SolverMethod::single_reduction_cg,
                                    SolverMethod::flexible_cg, SolverMethod::flexible_gmres}) {
    for (const RankPreconditioner m :
         {RankPreconditioner::none, RankPreconditioner::jacobi, RankPreconditioner::chebyshev}) {
      const auto solve = [&](const Communicator& ranks, const RankGrid& grid) {
        return solve_on_ranks<Device>(ranks, grid, options, {"tensor", "coloring"}, method, m,
                                      to_tolerance(1e-11));
      };
      const RankSolve processes = solve(mpi_world(), slabs());
      EXPECT_EQ(processes.report.status, SolveStatus::converged);
      expect_same_solution(solve(single_rank(), {1, 1, 1}), processes);
      const RankSolve again = solve(mpi_world(), slabs());
      EXPECT_EQ(again.report.history, processes.report.history);
      EXPECT_TRUE(same_bits(vector_of<double>(again.x), vector_of<double>(processes.x)));
    }
  }
}

// Graphs with messages in them are made, replayed and given up, over and over.
TEST_F(ProcessesOnGpus, SolveAThousandTimesWithoutWaitingForEver) {
  constexpr int kSolves = 1000;
  const ProblemOptions options{.degree = 1, .cells = {2, 2, Index{mpi_world().size()} + 1}};
  const auto solve = [&] {
    return solve_on_ranks<Device>(mpi_world(), slabs(), options, {"tensor", "coloring"},
                                  SolverMethod::cg, RankPreconditioner::jacobi);
  };
  const int solves = mpi_world().size() > visible_devices() ? kSolves / 20 : kSolves;
  const RankSolve first = solve();
  EXPECT_EQ(first.report.status, SolveStatus::converged);
  for (int number = 1; number < solves; ++number) {
    ASSERT_EQ(solve().report.history, first.report.history) << number;
  }
}

}  // namespace
}  // namespace tessera::testing
