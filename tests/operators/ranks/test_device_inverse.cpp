// These tests hold fast diagonalization on the GPUs of ranks, whose lines are exchanged in pieces,
// to that of one GPU.
#include <gtest/gtest.h>

#include <vector>

#include "mesh/threads_in_use.hpp"
#include "operators/fast_diagonalization/on_ranks.hpp"
#include "solvers/memory/captured_graph.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/fast_diagonalization/fast_diagonalization_cases.hpp"
#include "tests/operators/ranks/rank_checks.hpp"
#include "tests/vectors.hpp"

namespace tessera::testing {
namespace {

template <class T>
HostVector<T> inverse_of(const FastDiagonalization<T, Device>& inverse, const HostVector<T>& r) {
  Vector<T, Device> z(r.layout());
  fill(z, std::numeric_limits<T>::quiet_NaN());
  inverse.apply(in_space<Device>(r), z);
  return testing::on_host(z);
}

template <class T>
void expect_same_in_pieces(const Problem& problem, const RankGrid& grid, double tolerance) {
  const std::vector<double> r = random_values(problem.size(), 7);
  const std::vector<double> expected =
      values_of(inverse_of(*make_fast_diagonalization<T, Device>(problem.form), vector_of<T>(r)));
  for (const int pieces : {2, 3, 7}) {
    SCOPED_TRACE(pieces);
    run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
      const RankProblem mine(ranks, BoxPartition(problem.discretization->mesh, grid), problem,
                             Processor::gpu);
      const auto inverse = make_fast_diagonalization_in_pieces<T>(
          mine.form(), make_nearest_separable(mine.form()), pieces);
      const HostVector<T> z = inverse_of(*inverse, mine.taken<T>(r));
      EXPECT_TRUE(mine.agrees(z));
      EXPECT_TRUE(same_bits(inverse_of(*inverse, mine.taken<T>(r)), z)) << "the same bits again";
      EXPECT_LE(relative_difference(vector_of<T>(mine.gathered(z)), expected), tolerance);
    });
  }
}

// Also of more pieces than a rank has places.
TEST(RankInverseOnTheGpu, IsTheSameInAnyNumberOfPieces) {
  TESSERA_REQUIRE_DEVICE();
  const ThreadsInUse one(1);
  ProblemOptions options;
  options.degree = 2;
  options.coefficient = Coefficient::constant;
  for (const int dimension : {2, 3}) {
    options.dimension = dimension;
    options.cells = dimension == 2 ? IndexTriple{9, 5, 1} : IndexTriple{3, 6, 5};
    for (const Geometry geometry : {Geometry::cartesian, Geometry::graded}) {
      options.geometry = geometry;
      for (const Boundary boundary : {Boundary::dirichlet, Boundary::mixed, Boundary::none}) {
        options.boundary = boundary;
        SCOPED_TRACE(describe(options));
        const Problem problem = make_problem(options);
        const std::vector<RankGrid> grids =
            dimension == 2 ? std::vector<RankGrid>{{1, 2, 1}, {1, 4, 1}}
                           : std::vector<RankGrid>{{1, 1, 1}, {1, 1, 3}, {2, 2, 1}};
        for (const RankGrid& grid : grids) {
          expect_same_in_pieces<double>(problem, grid, 1e-11);
          expect_same_in_pieces<float>(problem, grid, 2e-4);
        }
      }
    }
  }
}

ProblemOptions large_options() {
  ProblemOptions options;
  options.degree = 4;
  options.cells = {40, 40, 40};
  options.geometry = Geometry::cartesian;
  options.coefficient = Coefficient::constant;
  options.boundary = Boundary::dirichlet;
  return options;
}

// 161^3 nodes are more than two pieces on one rank, and on two.
TEST(RankInverseOnTheGpu, IsInPiecesWhereItIsLarge) {
  TESSERA_REQUIRE_DEVICE();
  const ThreadsInUse one(1);
  const Problem problem = make_problem(large_options());
  const Discretization& space = *problem.discretization;
  const std::vector<double> r = random_values(problem.size(), 7);
  const std::vector<double> expected = values_of(
      inverse_of(*make_fast_diagonalization<double, Device>(problem.form), vector_of<double>(r)));
  for (const int count : {1, 2}) {
    const BoxPartition partition(space.mesh, {1, 1, count});
    run_on_threads(count, [&](const Communicator& ranks) {
      const RankProblem mine(ranks, partition, problem, Processor::gpu);
      const auto inverse = make_fast_diagonalization<double, Device>(mine.form());
      const std::int64_t bytes = rank_fast_diagonalization_bytes(
          space.lattice, problem.form.dirichlet, symmetry_of(problem.form), partition, ranks.rank(),
          sizeof(double), Processor::gpu);
      EXPECT_EQ(inverse->bytes(), bytes);
      const HostVector<double> z = inverse_of(*inverse, mine.taken<double>(r));
      EXPECT_TRUE(mine.agrees(z));
      EXPECT_LE(relative_difference(vector_of<double>(mine.gathered(z)), expected), 1e-11);
    });
  }
}

// A graph of an application with both streams, of a single rank, which waits for no other.
TEST(RankInverseOnTheGpu, IsCapturedInAGraph) {
  TESSERA_REQUIRE_DEVICE();
  const ThreadsInUse one(1);
  ProblemOptions options = large_options();
  options.cells = {4, 5, 6};
  const Problem problem = make_problem(options);
  const RankProblem mine(single_rank(), BoxPartition(problem.discretization->mesh, {1, 1, 1}),
                         problem, Processor::gpu);
  const auto inverse = make_fast_diagonalization_in_pieces<double>(
      mine.form(), make_nearest_separable(mine.form()), 3);
  DeviceVector<double> r(mine.layout());
  DeviceVector<double> z(mine.layout());
  inverse->apply(r, z);
  const ExecutableGraph graph = executable(captured([&] { inverse->apply(r, z); }));
  for (const int seed : {3, 4}) {
    const HostVector<double> values = mine.taken<double>(random_values(problem.size(), seed));
    copy(values, r);
    fill(z, std::numeric_limits<double>::quiet_NaN());
    launch_graph(graph);
    EXPECT_TRUE(same_bits(testing::on_host(z), inverse_of(*inverse, values))) << seed;
  }
}

}  // namespace
}  // namespace tessera::testing
