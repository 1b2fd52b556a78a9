// These tests hold what MPI's processes compute on GPUs to one rank's: by NCCL and by stores into
// each other's memory where each has a GPU for itself, by way of the host where they share some.
#include <gtest/gtest.h>

#include <array>

#include "solvers/memory/device_array.hpp"
#include "solvers/memory/device_choice.hpp"
#include "solvers/ranks/gpu/nccl_carrier.hpp"
#include "solvers/ranks/gpu/peer_carrier.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/ranks/rank_checks.hpp"
#include "tests/solvers/ranks/mpi_world.hpp"

namespace tessera::testing {
namespace {

RankGrid slabs() { return {1, 1, mpi_world().size()}; }
ProblemOptions usual_options() { return {.cells = {3, 4, Index{mpi_world().size()} + 1}}; }

enum class Carried { by_nccl, by_peers };

class ProcessesOnGpus : public ::testing::TestWithParam<Carried> {
 protected:
  void SetUp() override {
    TESSERA_REQUIRE_DEVICE();
    const int gpus = visible_devices();
    choose_device(mpi_world().rank() % gpus);
    // One carrier of a kind serves all tests, as it does in a run.
    static std::array<std::shared_ptr<const DeviceCarrier>, 2> carriers;
    std::shared_ptr<const DeviceCarrier>& carrier = carriers[static_cast<std::size_t>(GetParam())];
    if (carrier == nullptr) carrier = make_carrier(gpus, GetParam());
    ASSERT_NE(carrier, nullptr);
    carrier_maker() = [carrier](const Communicator& ranks) {
      return ranks.size() == 1 ? make_staged_carrier(ranks) : carrier;
    };
    carrier_ = carrier;
  }

  const DeviceCarrier& carrier() const { return *carrier_; }

 private:
  std::shared_ptr<const DeviceCarrier> carrier_;

  static std::shared_ptr<const DeviceCarrier> make_carrier(int gpus, Carried how) {
    if (mpi_world().size() > gpus) return make_staged_carrier(mpi_world());
    std::string why_not;
    auto carrier = how == Carried::by_nccl ? make_nccl_carrier(mpi_world(), kNcclLibrary, why_not)
                                           : make_peer_carrier(mpi_world(), why_not);
    EXPECT_NE(carrier, nullptr) << why_not;
    return carrier;
  }
};

std::vector<double> numbers_of(int from, int to, int round, std::int64_t count) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(1e6 * from + 1e4 * to + 1e3 * round + static_cast<double>(i % 997));
  }
  return numbers;
}

// Lengths of one value to many chunks, of other lengths to each rank and back, and messages that do
// not begin at even places.
TEST_P(ProcessesOnGpus, ExchangeMessagesOfAnyLength) {
  const int mine = mpi_world().rank();
  const int count = mpi_world().size();
  int round = 0;
  for (const std::int64_t length : {1, 3, 1000, 4097, 600000, 3000001}) {
    for (const std::int64_t offset : {0, 1}) {
      ++round;
      const auto length_between = [&](int from, int to) { return length + 2 * from + to; };
      std::vector<DeviceArray<double>> sent;
      std::vector<DeviceArray<double>> received;
      std::vector<DeviceMessage> messages;
      for (int other = 0; other < count; ++other) {
        if (other == mine) continue;
        sent.emplace_back(numbers_of(mine, other, round, offset + length_between(mine, other)));
        received.emplace_back(std::vector<double>(
            static_cast<std::size_t>(offset + length_between(other, mine)), -1.0));
        messages.push_back({other, sent.back().data() + offset, received.back().data() + offset,
                            8 * length_between(mine, other), 8 * length_between(other, mine)});
      }
      for (int repetition = 0; repetition < 3; ++repetition) carrier().exchange(messages);
      DeviceArray<double> all(length * count);
      const DeviceArray<double> gathered(numbers_of(mine, 0, round, length));
      carrier().all_gather(gathered.data(), 8 * length, all.data());
      for (std::size_t m = 0; m < messages.size(); ++m) {
        const int other = messages[m].rank;
        std::vector<double> expected =
            numbers_of(other, mine, round, offset + length_between(other, mine));
        if (offset > 0) expected.front() = -1.0;
        EXPECT_EQ(to_host(received[m]), expected) << length << " from " << other;
      }
      std::vector<double> expected;
      for (int rank = 0; rank < count; ++rank) {
        const std::vector<double> numbers = numbers_of(rank, 0, round, length);
        expected.insert(expected.end(), numbers.begin(), numbers.end());
      }
      EXPECT_EQ(to_host(all), expected) << length;
    }
  }
}

TEST_P(ProcessesOnGpus, ApplyOperatorsAsOneRank) {
  ProblemOptions options = usual_options();
  check_operators<double, Device>(mpi_world(), slabs(), options);
  options.geometry = Geometry::graded;
  options.coefficient = Coefficient::constant;
  check_operators<float, Device>(mpi_world(), slabs(), options);
  check_operators<double, Device>(mpi_world(), {mpi_world().size(), 1, 1},
                                  {.degree = 3, .cells = {Index{mpi_world().size()} + 2, 3, 2}});
}

TEST_P(ProcessesOnGpus, SumAsOneRank) { check_sums<Device>(mpi_world(), slabs(), usual_options()); }

TEST_P(ProcessesOnGpus, SolveAsOneRankAndTwiceWithTheSameBits) {
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
TEST_P(ProcessesOnGpus, SolveAThousandTimesWithoutWaitingForEver) {
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

INSTANTIATE_TEST_SUITE_P(Carriers, ProcessesOnGpus,
                         ::testing::Values(Carried::by_nccl, Carried::by_peers),
                         [](const auto& test) {
                           return test.param == Carried::by_nccl ? "ByNccl" : "ByPeers";
                         });

}  // namespace
}  // namespace tessera::testing
