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
#include "tests/vectors.hpp"

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

  const std::shared_ptr<const DeviceCarrier>& carrier() const { return carrier_; }

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
      for (int repetition = 0; repetition < 3; ++repetition) carrier()->exchange(messages);
      DeviceArray<double> all(length * count);
      const DeviceArray<double> gathered(numbers_of(mine, 0, round, length));
      carrier()->all_gather(gathered.data(), 8 * length, all.data());
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

/// Slabs along an axis of a box of nodes, of which the first row along the axis before is left out
/// of the planes that slabs share: there the matrix is the identity.
struct Slab {
  std::array<std::int64_t, 3> nodes;
  int axis;
  int rank;
  int count;

  int left_out_axis() const { return axis == 0 ? 1 : 0; }
  std::int64_t size() const { return nodes[0] * nodes[1] * nodes[2]; }
  std::array<std::int64_t, 3> node(std::int64_t i) const {
    return {i % nodes[0], i / nodes[0] % nodes[1], i / nodes[0] / nodes[1]};
  }
  bool is_identity(std::int64_t i) const { return node(i)[left_out_axis()] == 0; }
  bool is_on_plane(std::int64_t i, int side) const {
    return node(i)[axis] == (side < 0 ? 0 : nodes[axis] - 1) && has_neighbor(side);
  }
  bool has_neighbor(int side) const { return side < 0 ? rank > 0 : rank + 1 < count; }
  // Small whole numbers, of which sums are exact.
  double x(std::int64_t i) const {
    std::array<std::int64_t, 3> whole = node(i);
    whole[axis] += rank * (nodes[axis] - 1);
    return static_cast<double>((whole[0] + 3 * whole[1] + 5 * whole[2]) % 5 + 1);
  }
  double y_of_rank(std::int64_t i, int of) const {
    return is_identity(i) ? x(i) : x(i) + static_cast<double>(i % 3 + of);
  }
  // The number that node i has in the slab next to this one.
  std::int64_t number_in_neighbor(std::int64_t i, int side) const {
    const std::int64_t stride = axis == 0 ? 1 : axis == 1 ? nodes[0] : nodes[0] * nodes[1];
    return i - side * stride * (nodes[axis] - 1);
  }
  double y_of_all(std::int64_t i) const {
    double sum = y_of_rank(i, rank);
    for (const int side : {-1, 1}) {
      if (!is_on_plane(i, side) || is_identity(i)) continue;
      const std::int64_t there = number_in_neighbor(i, side);
      sum += x(i) + static_cast<double>(there % 3 + rank + side);
    }
    return sum;
  }

  SharedPlanes planes() const {
    const std::array<std::int64_t, 3> strides = {1, nodes[0], nodes[0] * nodes[1]};
    const int low = axis == 0 ? 1 : 0;
    const int high = axis == 2 ? 1 : 2;
    SharedPlanes planes;
    for (const int side : {-1, 1}) {
      if (!has_neighbor(side)) continue;
      // The row left out is the first along the lower of the two other axes.
      const std::int64_t first =
          (side < 0 ? 0 : strides[axis] * (nodes[axis] - 1)) + strides[left_out_axis()];
      planes[axis].push_back({rank + side,
                              {.first = first,
                               .counts = {nodes[low] - 1, nodes[high]},
                               .strides = {strides[low], strides[high]}}});
    }
    return planes;
  }
  // Those that the slab below counts and that are not on planes.
  std::vector<std::int64_t> identity_rows() const {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < size(); ++i) {
      if (is_identity(i) && is_on_plane(i, -1)) rows.push_back(i);
    }
    return rows;
  }
};

// From a few entries to several chunks of each block, planes of consecutive entries and others.
TEST_P(ProcessesOnGpus, AddPlanesAndTheirSums) {
  const int rank = mpi_world().rank();
  const int count = mpi_world().size();
  for (const std::array<std::int64_t, 3> nodes : {std::array<std::int64_t, 3>{3, 2, 4},
                                                  {70, 33, 3},
                                                  {3, 70, 33},
                                                  {33, 3, 70},
                                                  {1001, 700, 2}}) {
    for (const int axis : {0, 1, 2}) {
      const Slab slab{nodes, axis, rank, count};
      const PlaneExchange<double, Device> exchange(carrier(), slab.planes());
      std::vector<double> x;
      std::vector<double> before;
      std::vector<double> after;
      std::array<double, 2> own{};
      std::array<double, 3> expected{0.0, 0.0, 1.0 + rank};
      for (std::int64_t i = 0; i < slab.size(); ++i) {
        x.push_back(slab.x(i));
        before.push_back(slab.y_of_rank(i, rank));
        after.push_back(slab.y_of_all(i));
        own[0] += x.back() * before.back();
        own[1] += before.back() * before.back();
        if (slab.is_on_plane(i, -1)) continue;
        expected[0] += x.back() * after.back();
        expected[1] += after.back() * after.back();
      }
      mpi_world().sum(expected);
      const DeviceArray<std::int64_t> rows(slab.identity_rows());
      const DeviceArray<double> own_sums(std::vector<double>(own.begin(), own.end()));
      const DeviceArray<double> mine(std::vector<double>{1.0 + rank});
      const DeviceVector<double> x_there = vector_in<double, Device>(x);
      for (int repetition = 0; repetition < 3; ++repetition) {
        DeviceVector<double> y = vector_in<double, Device>(before);
        exchange.add(y);
        EXPECT_EQ(values_of(y), after) << axis;
        y = vector_in<double, Device>(before);
        DeviceArray<double> sums(3);
        if (!exchange.add_with_sums(y, {own_sums.data(), x_there.data(), rows.data(), rows.size(),
                                        mine.data(), sums.data()})) {
          continue;
        }
        EXPECT_EQ(values_of(y), after) << axis;
        EXPECT_EQ(to_host(sums), std::vector<double>(expected.begin(), expected.end())) << axis;
      }
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
