// These tests hold transfers on ranks, and a cycle with the coarser levels gathered, to one rank's.
#include <gtest/gtest.h>

#include "mesh/coarsening.hpp"
#include "operators/multigrid/lattice_transfer.hpp"
#include "operators/multigrid/multigrid.hpp"
#include "operators/ranks/gathering_transfer.hpp"
#include "solvers/krylov/cg.hpp"
#include "solvers/preconditioners/chebyshev.hpp"
#include "solvers/preconditioners/multigrid.hpp"
#include "solvers/ranks/distributed_transfer.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "tests/operators/ranks/rank_checks.hpp"

namespace tessera::testing {
namespace {

// A problem, a partition that fits its coarser level, and that level.
struct TwoLevels {
  Problem fine;
  BoxPartition partition;
  Problem coarse;

  TwoLevels(const ProblemOptions& options, const RankGrid& grid, const LevelShape& shape)
      : fine(make_problem(options)), partition(fine.discretization->mesh, grid, {1, 1, 1}) {
    coarse.discretization =
        std::make_unique<const Discretization>(coarsen(*fine.discretization, shape));
    coarse.form = fine.form;
    coarse.form.discretization = coarse.discretization.get();
  }
};

// The parts of both levels that a rank has, and the transfers between them.
class RankLevels {
 public:
  RankLevels(const Communicator& ranks, const TwoLevels& whole)
      : fine_(ranks, whole.partition, whole.fine),
        coarse_(ranks, whole.partition.merged(whole.coarse.discretization->mesh.cells()),
                whole.coarse) {}

  const RankProblem& fine() const { return fine_; }
  const RankProblem& coarse() const { return coarse_; }

  template <class T>
  std::unique_ptr<const Transfer<T, Host>> local() const {
    return std::make_unique<LatticeTransfer<T, Host>>(make_prolongation(
        coarse_.discretization(), fine_.discretization(), fine_.form().dirichlet));
  }
  template <class T>
  std::unique_ptr<const Transfer<T, Host>> gathering() const {
    return std::make_unique<GatheringTransfer<T>>(
        local<T>(), fine_.layout(),
        WholeSum<T, Host>(coarse_.part().ranks(), nullptr, coarse_.part().nodes()));
  }

 private:
  RankProblem fine_;
  RankProblem coarse_;
};

template <class T>
void check_transfers(const Communicator& ranks, const TwoLevels& whole) {
  const RankLevels mine(ranks, whole);
  const LatticeTransfer<T, Host> one(make_prolongation(
      *whole.coarse.discretization, *whole.fine.discretization, whole.fine.form.dirichlet));
  const std::vector<double> fine_values = random_input<T>(whole.fine.size(), 3);
  const std::vector<double> coarse_values = random_input<T>(whole.coarse.size(), 4);
  HostVector<T> restricted = poisoned<T>(whole.coarse.size());
  one.restrict_to_coarse(vector_of<T>(fine_values), restricted);
  HostVector<T> prolonged = vector_of<T>(fine_values);
  one.add_prolonged(vector_of<T>(coarse_values), prolonged);

  const DistributedTransfer<T, Host> several(mine.local<T>(), mine.fine().layout(),
                                             mine.coarse().part().exchange<T>({}));
  HostVector<T> fine = mine.fine().taken<T>(fine_values);
  HostVector<T> coarse(mine.coarse().layout());
  fill(coarse, std::numeric_limits<T>::quiet_NaN());
  several.restrict_to_coarse(fine, coarse);
  EXPECT_TRUE(mine.coarse().agrees(coarse));
  EXPECT_LE(relative_difference(restricted, mine.coarse().gathered(coarse)), rank_tolerance<T>());
  several.add_prolonged(mine.coarse().taken<T>(coarse_values), fine);
  EXPECT_TRUE(mine.fine().agrees(fine));
  EXPECT_LE(relative_difference(prolonged, mine.fine().gathered(fine)), rank_tolerance<T>());

  const auto gathering = mine.gathering<T>();
  fine = mine.fine().taken<T>(fine_values);
  HostVector<T> gathered = poisoned<T>(whole.coarse.size());
  gathering->restrict_to_coarse(fine, gathered);
  EXPECT_LE(
      relative_difference(gathered, {restricted.data(), restricted.data() + restricted.size()}),
      rank_tolerance<T>());
  gathering->add_prolonged(vector_of<T>(coarse_values), fine);
  EXPECT_TRUE(mine.fine().agrees(fine));
  EXPECT_LE(relative_difference(prolonged, mine.fine().gathered(fine)), rank_tolerance<T>());
}

void check_every_transfer(const ProblemOptions& options, const RankGrid& grid,
                          const LevelShape& shape) {
  const TwoLevels whole(options, grid, shape);
  run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
    check_transfers<double>(ranks, whole);
    check_transfers<float>(ranks, whole);
  });
}

TEST(TransfersOnRanks, OfDegreesAreThoseOfOneRank) {
  for (const Geometry geometry : {Geometry::curved, Geometry::graded}) {
    for (const Boundary boundary : {Boundary::none, Boundary::mixed, Boundary::dirichlet}) {
      const ProblemOptions options{
          .degree = 4, .cells = {2, 3, 3}, .geometry = geometry, .boundary = boundary};
      check_every_transfer(options, {1, 1, 3}, {2, options.cells});
      check_every_transfer(options, {2, 1, 2}, {2, options.cells});
    }
  }
}

// Odd numbers of cells, and axes that keep theirs, along which constrained rows are passed on.
TEST(TransfersOnRanks, OfMergedCellsAreThoseOfOneRank) {
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
    for (const Boundary boundary : {Boundary::mixed, Boundary::dirichlet}) {
      const ProblemOptions options{
          .degree = 2, .cells = {4, 6, 12}, .geometry = geometry, .boundary = boundary};
      check_every_transfer(options, {2, 1, 3}, {2, {2, 3, 6}});
      check_every_transfer(options, {2, 3, 1}, {2, {2, 3, 12}});
      check_every_transfer(options, {1, 1, 2}, {2, {4, 6, 6}});
      ProblemOptions odd = options;
      odd.cells = {3, 3, 41};
      check_every_transfer(odd, {1, 1, 2}, {2, {2, 2, 21}});
      ProblemOptions flat = options;
      flat.dimension = 2;
      check_every_transfer(flat, {2, 3, 1}, {2, {2, 3, 1}});
    }
  }
}

// A cycle of two levels, the coarser one a whole cycle that each rank has: as many iterations as on
// one rank, and the same solution.
TEST(TransfersOnRanks, MakeACycleOfOneRank) {
  const ProblemOptions options{.degree = 4, .cells = {3, 3, 4}};
  const auto solve = [&](const RankGrid& grid) {
    const TwoLevels whole(options, grid, {2, options.cells});
    RankSolve of_first;
    run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
      const RankLevels mine(ranks, whole);
      const StrategyName strategy{"tensor", "coloring"};
      std::vector<MultigridLevel<double, Host>> levels(2);
      levels[0].a = mine.fine().distributed<double>(strategy);
      HostVector<double> inverse(levels[0].a->layout());
      levels[0].a->diagonal(inverse);
      invert_entries(inverse);
      const Spectrum spectrum = estimate_spectrum(*levels[0].a, inverse, 10);
      levels[0].smoother = std::make_unique<Chebyshev<double, Host>>(
          *levels[0].a, std::move(inverse), chebyshev_steps(3, 0.2, 1.1 * spectrum.largest));
      levels[0].to_coarser = mine.gathering<double>();
      levels[1].a = make_operator<double>(strategy, whole.coarse.form);
      auto coarser = make_multigrid<double, Host>(whole.coarse.form, {}, nullptr);
      levels[1].coarse = std::move(coarser.cycle);
      const auto a = levels[0].a;
      const Multigrid<double, Host> cycle(std::move(levels));
      const auto solver = make_cg<double, Host>(*a, &cycle);
      const HostVector<double> b = mine.fine().taken<double>(random_values(whole.fine.size(), 5));
      HostVector<double> x = mine.fine().taken<double>(random_values(whole.fine.size(), 6));
      RankSolve mine_solved{solver->solve(b, x, to_tolerance(1e-11)), {}};
      EXPECT_TRUE(mine.fine().agrees(x));
      mine_solved.x = mine.fine().gathered(x);
      if (ranks.rank() == 0) of_first = std::move(mine_solved);
    });
    return of_first;
  };
  const RankSolve one = solve({1, 1, 1});
  EXPECT_EQ(one.report.status, SolveStatus::converged);
  EXPECT_LE(one.report.iterations, 20);
  for (const RankGrid& grid : {RankGrid{1, 1, 2}, RankGrid{1, 1, 4}, RankGrid{3, 1, 2}}) {
    const RankSolve several = solve(grid);
    EXPECT_EQ(several.report.iterations, one.report.iterations);
    expect_same_solution(one, several);
  }
}

}  // namespace
}  // namespace tessera::testing
