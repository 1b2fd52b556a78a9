// These tests solve as ranks with NCCL do, whose messages are captured in graphs: with one rank,
// which sends to itself.
#include <gtest/gtest.h>

#include <cmath>

#include "solvers/krylov/methods.hpp"
#include "solvers/preconditioners/chebyshev.hpp"
#include "solvers/ranks/distributed_operator.hpp"
#include "solvers/ranks/gpu/nccl_carrier.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/ranks/rank_checks.hpp"

namespace tessera::testing {
namespace {

// The layout of the only one of some ranks, whose sums go through the carrier.
VectorLayout layout_of(const Problem& problem, std::shared_ptr<const DeviceCarrier> carrier) {
  const NodeLattice& lattice = problem.discretization->lattice;
  const WholeNumbers numbers{0,
                             lattice.stride(1),
                             lattice.extents()[1],
                             {lattice.stride(1), lattice.stride(2)},
                             lattice.size()};
  return VectorLayout(lattice.size(),
                      std::make_shared<const SharedEntries>(
                          single_rank(), std::vector<EntryPlane>{}, numbers, std::move(carrier)));
}

struct Solve {
  SolveReport report;
  HostVector<double> x;
};

Solve solve(const Problem& problem, const LinearOperator<double, Device>& a, SolverMethod method,
            RankPreconditioner kind) {
  std::unique_ptr<Preconditioner<double, Device>> m;
  if (kind == RankPreconditioner::jacobi) m = std::make_unique<Jacobi<double, Device>>(a);
  if (kind == RankPreconditioner::chebyshev) {
    Vector<double, Device> inverse(a.layout());
    a.diagonal(inverse);
    invert_entries(inverse);
    const Spectrum spectrum = estimate_spectrum(a, inverse, 12);
    m = std::make_unique<Chebyshev<double, Device>>(
        a, std::move(inverse), chebyshev_steps(4, spectrum.largest / 30, 1.1 * spectrum.largest));
  }
  DeviceVector<double> b(a.layout());
  DeviceVector<double> x(a.layout());
  copy(vector_of<double>(random_values(problem.size(), 5)), b);
  const auto solver = make_solver<double, Device>(method, a, m.get(), {});
  Solve result;
  // The second one replays the graphs of the first.
  for (int repetition = 0; repetition < 2; ++repetition) {
    copy(vector_of<double>(random_values(problem.size(), 6)), x);
    result.report = solver->solve(b, x, to_tolerance(1e-9));
  }
  result.x = testing::on_host(x);
  return result;
}

TEST(NcclSolvesOnTheGpu, GoAsWithoutRanks) {
  TESSERA_REQUIRE_DEVICE();
  std::string why_not;
  const auto carrier = make_nccl_carrier(single_rank(), kNcclLibrary, why_not);
  if (carrier == nullptr) GTEST_SKIP() << why_not;
  const Problem problem = make_problem({.degree = 2, .cells = {3, 4, 5}});
  const StrategyName strategy{"tensor", "coloring"};
  const auto alone = make_operator<double, Device>(strategy, problem.form);
  const DistributedOperator<double, Device> shared(
      make_operator<double, Device>(strategy, problem.form), layout_of(problem, carrier),
      PlaneExchange<double, Device>(carrier, {}));
  for (const SolverMethod method :
       {SolverMethod::cg, SolverMethod::single_reduction_cg, SolverMethod::pipelined_cg,
        SolverMethod::flexible_cg, SolverMethod::flexible_gmres}) {
    for (const RankPreconditioner kind :
         {RankPreconditioner::none, RankPreconditioner::jacobi, RankPreconditioner::chebyshev}) {
      const Solve one = solve(problem, *alone, method, kind);
      const Solve by_nccl = solve(problem, shared, method, kind);
      EXPECT_EQ(one.report.status, SolveStatus::converged);
      EXPECT_EQ(by_nccl.report.status, SolveStatus::converged);
      EXPECT_LE(std::abs(by_nccl.report.iterations - one.report.iterations),
                std::max(1, one.report.iterations / 20));
      EXPECT_LE(relative_difference(by_nccl.x, values_of(one.x)), 1e-7);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
